#pragma once
// A matrix of signed bytes with one scale per row, multiplied from the right with rows of floats.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace clawmark {

// Value (r, c) is codes[r][c] × scale[r].
class Int8Matrix {
 public:
  Int8Matrix() = default;
  // `codes`: rows × cols, row after row; cols a multiple of 16.
  Int8Matrix(std::size_t rows, std::size_t cols, std::span<const float> scales,
             std::span<const std::int8_t> codes);

  std::size_t rows() const { return scales_.size(); }
  std::size_t cols() const { return cols_; }

  // out = x · this + bias. x: count × rows, out: count × cols, bias: cols or empty.
  void multiply(std::span<const float> x, std::span<const float> bias, std::span<float> out) const;

  void row(std::size_t index, std::span<float> out) const;

 private:
  std::size_t cols_ = 0;
  std::vector<float> scales_;
  std::vector<std::int8_t> panels_;  // 16 columns beside each other: [cols / 16][rows][16]
};

// "avx2" or "plain": chosen when first asked.
std::string_view int8_matrix_kernel();

}  // namespace clawmark
