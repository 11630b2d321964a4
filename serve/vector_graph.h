#pragma once
// A navigable graph over rows of int8 vectors (HNSW: Malkov & Yashunin 2018; hnswlib), for
// histories whose scan would be slow. It holds links only; the vectors stay where the scan keeps
// them. One writer, never beside a reader: the caller's lock. Inside serve/vector_* only.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "serve/vector_kernels.h"

namespace clawmark {

// Where the vectors are; they may move between calls.
struct GraphRows {
  const std::vector<std::int8_t>* codes = nullptr;  // `padded` of each row
  const std::vector<float>* scales = nullptr;
  std::size_t padded = 0;
  const VectorKernels* kernels = nullptr;
};

class VectorGraph {
 public:
  explicit VectorGraph(GraphRows rows);
  ~VectorGraph();
  VectorGraph(const VectorGraph&) = delete;
  VectorGraph& operator=(const VectorGraph&) = delete;

  std::size_t size() const;   // rows linked: the first so many
  std::size_t bytes() const;  // of links
  // Links row size(). About half a millisecond.
  void add_next();
  // The nearest rows that `open` lets pass, best first, at most `wanted`; looks at about `breadth`.
  std::vector<std::pair<float, std::uint32_t>> search(
      const std::int8_t* query, float scale, std::size_t wanted, std::size_t breadth,
      const std::function<bool(std::uint32_t)>& open) const;

  // For a snapshot: the links as bytes, and back. load() returns false for bytes that are not a
  // graph over this many rows.
  void save(std::vector<std::span<const char>>& parts, std::vector<std::vector<char>>& owned) const;
  bool load(std::span<const char> bytes, std::size_t rows);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace clawmark
