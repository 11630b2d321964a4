#pragma once
// Inner loops of the vector scan, chosen once at run time: AVX2 where the processor has it, plain
// C++ elsewhere. Layout: int8 codes in [-127, 127], padded with zeros to a multiple of 64; sign
// bits in 64-bit words.

#include <cstddef>
#include <cstdint>

namespace clawmark {

struct VectorKernels {
  const char* name;  // "avx2" or "plain"
  // Dot product of n codes, n a multiple of 64.
  std::int32_t (*dot)(const std::int8_t* a, const std::int8_t* b, std::size_t n);
  // Number of differing bits in `words` words.
  std::uint32_t (*hamming)(const std::uint64_t* a, const std::uint64_t* b, std::size_t words);
};

const VectorKernels& best_kernels();
const VectorKernels& plain_kernels();

}  // namespace clawmark
