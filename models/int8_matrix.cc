#include "models/int8_matrix.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace clawmark {
namespace {

constexpr std::size_t kWidth = 16;  // columns of a panel
constexpr std::size_t kHeight = 4;  // rows of x that share one reading of a panel

// One panel times `count` <= kHeight rows of x, `stride` floats apart. out: `out_stride` apart.
struct Tile {
  const float* x = nullptr;
  std::size_t stride = 0, count = 0, depth = 0;
  const std::int8_t* panel = nullptr;
  const float* bias = nullptr;  // kWidth; null: zero
  float* out = nullptr;
  std::size_t out_stride = 0;
};
using TileKernel = void (*)(const Tile& tile);

void tile_plain(const Tile& tile) {
  for (std::size_t t = 0; t < tile.count; ++t) {
    float sums[kWidth] = {};
    if (tile.bias != nullptr) {
      for (std::size_t c = 0; c < kWidth; ++c) sums[c] = tile.bias[c];
    }
    const float* x = tile.x + t * tile.stride;
    for (std::size_t k = 0; k < tile.depth; ++k) {
      const std::int8_t* codes = tile.panel + k * kWidth;
      for (std::size_t c = 0; c < kWidth; ++c) sums[c] += x[k] * static_cast<float>(codes[c]);
    }
    float* out = tile.out + t * tile.out_stride;
    for (std::size_t c = 0; c < kWidth; ++c) out[c] = sums[c];
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void tile_avx2(const Tile& tile) {
  // Rows that are not there are computed on the first one and thrown away.
  const float* x[kHeight];
  for (std::size_t t = 0; t < kHeight; ++t) {
    x[t] = tile.x + (t < tile.count ? t : 0) * tile.stride;
  }
  __m256 low[kHeight], high[kHeight];
  for (std::size_t t = 0; t < kHeight; ++t) {
    low[t] = tile.bias == nullptr ? _mm256_setzero_ps() : _mm256_loadu_ps(tile.bias);
    high[t] = tile.bias == nullptr ? _mm256_setzero_ps() : _mm256_loadu_ps(tile.bias + 8);
  }
  for (std::size_t k = 0; k < tile.depth; ++k) {
    const __m128i codes =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(tile.panel + k * kWidth));
    const __m256 left = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(codes));
    const __m256 right = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(codes, 8)));
    for (std::size_t t = 0; t < kHeight; ++t) {
      const __m256 value = _mm256_set1_ps(x[t][k]);
      low[t] = _mm256_fmadd_ps(value, left, low[t]);
      high[t] = _mm256_fmadd_ps(value, right, high[t]);
    }
  }
  for (std::size_t t = 0; t < tile.count; ++t) {
    _mm256_storeu_ps(tile.out + t * tile.out_stride, low[t]);
    _mm256_storeu_ps(tile.out + t * tile.out_stride + 8, high[t]);
  }
}
#endif

TileKernel choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return tile_avx2;
#endif
  return tile_plain;
}

TileKernel kernel() {
  static const TileKernel chosen = choose();
  return chosen;
}

}  // namespace

std::string_view int8_matrix_kernel() {
  return kernel() == tile_plain ? "plain" : "avx2";
}

Int8Matrix::Int8Matrix(std::size_t rows, std::size_t cols, std::span<const float> scales,
                       std::span<const std::int8_t> codes)
    : cols_(cols), scales_(scales.begin(), scales.end()), panels_(rows * cols) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      panels_[(c / kWidth * rows + r) * kWidth + c % kWidth] = codes[r * cols + c];
    }
  }
}

void Int8Matrix::multiply(std::span<const float> x, std::span<const float> bias,
                          std::span<float> out) const {
  const std::size_t depth = rows(), count = depth == 0 ? 0 : x.size() / depth;
  std::vector<float> scaled(x.size());
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t k = 0; k < depth; ++k) scaled[t * depth + k] = x[t * depth + k] * scales_[k];
  }
  for (std::size_t panel = 0; panel < cols_ / kWidth; ++panel) {
    for (std::size_t t = 0; t < count; t += kHeight) {
      Tile tile;
      tile.x = scaled.data() + t * depth;
      tile.stride = tile.depth = depth;
      tile.count = count - t < kHeight ? count - t : kHeight;
      tile.panel = panels_.data() + panel * depth * kWidth;
      tile.bias = bias.empty() ? nullptr : bias.data() + panel * kWidth;
      tile.out = out.data() + t * cols_ + panel * kWidth;
      tile.out_stride = cols_;
      kernel()(tile);
    }
  }
}

void Int8Matrix::row(std::size_t index, std::span<float> out) const {
  for (std::size_t c = 0; c < cols_; ++c) {
    out[c] = scales_[index] *
             static_cast<float>(panels_[(c / kWidth * rows() + index) * kWidth + c % kWidth]);
  }
}

}  // namespace clawmark
