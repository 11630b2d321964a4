#include "serve/vector_kernels.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace clawmark {
namespace {

std::int32_t dot_plain(const std::int8_t* a, const std::int8_t* b, std::size_t n) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::int32_t{a[i]} * std::int32_t{b[i]};
  return sum;
}

std::uint32_t hamming_plain(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
  int sum = 0;
  for (std::size_t i = 0; i < words; ++i) sum += std::popcount(a[i] ^ b[i]);
  return static_cast<std::uint32_t>(sum);
}

#if defined(__x86_64__)
// |a| × sign(b, a) with maddubs: codes stay within ±127, so a pair sums to at most 32,258 and never
// saturates.
__attribute__((target("avx2"))) std::int32_t dot_avx2(const std::int8_t* a, const std::int8_t* b,
                                                      std::size_t n) {
  const __m256i one = _mm256_set1_epi16(1);
  __m256i sum0 = _mm256_setzero_si256();
  __m256i sum1 = _mm256_setzero_si256();
  for (std::size_t i = 0; i < n; i += 64) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i));
    const __m256i u = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i + 32));
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i + 32));
    const __m256i p = _mm256_maddubs_epi16(_mm256_abs_epi8(x), _mm256_sign_epi8(y, x));
    const __m256i q = _mm256_maddubs_epi16(_mm256_abs_epi8(u), _mm256_sign_epi8(v, u));
    sum0 = _mm256_add_epi32(sum0, _mm256_madd_epi16(p, one));
    sum1 = _mm256_add_epi32(sum1, _mm256_madd_epi16(q, one));
  }
  sum0 = _mm256_add_epi32(sum0, sum1);
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(sum0), _mm256_extracti128_si256(sum0, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
  return _mm_cvtsi128_si32(s);
}

__attribute__((target("popcnt"))) std::uint32_t hamming_popcnt(const std::uint64_t* a,
                                                               const std::uint64_t* b,
                                                               std::size_t words) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < words; ++i) sum += _mm_popcnt_u64(a[i] ^ b[i]);
  return static_cast<std::uint32_t>(sum);
}
#endif

constexpr VectorKernels kPlain{"plain", dot_plain, hamming_plain};

VectorKernels choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt")) {
    return {"avx2", dot_avx2, hamming_popcnt};
  }
#endif
  return kPlain;
}

}  // namespace

const VectorKernels& best_kernels() {
  static const VectorKernels kernels = choose();
  return kernels;
}

const VectorKernels& plain_kernels() {
  return kPlain;
}

}  // namespace clawmark
