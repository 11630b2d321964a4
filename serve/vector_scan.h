#pragma once
// The index itself: rows in memory, and which audience may see each. Inside serve/vector_* only.

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "serve/vector_graph.h"
#include "serve/vector_index.h"
#include "serve/vector_kernels.h"

namespace clawmark {

inline constexpr std::size_t kBlock = 64;    // codes are padded to this
inline constexpr std::uint32_t kNobody = 0;  // audience of a row that was removed

struct Quantized {
  std::vector<std::int8_t> codes;
  float scale = 0;
};

struct Scored {
  double score;
  std::int64_t message;
  bool operator<(const Scored& other) const {  // the worse of two sorts first
    return score != other.score ? score < other.score : message > other.message;
  }
};

// Room for more, without the doubling that would leave half of a large index empty.
template <class T>
void grow(std::vector<T>& values, std::size_t more) {
  const std::size_t wanted = values.size() + more;
  if (wanted > values.capacity()) values.reserve(wanted + wanted / 8);
}

class ScanIndex final : public VectorIndex {
 public:
  ScanIndex(const ModelId& model, const ScanOptions& options)
      : model_(model),
        options_(options),
        kernels_(options.plain_kernels ? plain_kernels() : best_kernels()),
        padded_((static_cast<std::size_t>(std::max(model.dims, 1)) + kBlock - 1) / kBlock * kBlock),
        words_(padded_ / 64) {}

  bool load(const Snapshot& snapshot);

  ModelId model() const override { return model_; }
  Status add(std::span<const VectorEntry> entries) override;
  void remove(std::span<const Seq> messages) override;
  std::vector<VectorHit> search(const VectorQuery& query) const override;
  std::vector<double> cosines(std::span<const float> vector,
                              std::span<const Seq> messages) const override;
  Background background(const VectorQuery& query) const override;
  bool improve(std::size_t rows) override;
  std::uint64_t questions() const override { return questions_.load(std::memory_order_relaxed); }
  Status save(const std::string& path, const IndexStamp& stamp) override;
  std::size_t unsaved() const override {
    const std::shared_lock lock(mutex_);
    return unsaved_;
  }
  Sizes sizes() const override;
  std::size_t size() const override {
    const std::shared_lock lock(mutex_);
    return scales_.size() - audience_rows_[kNobody];
  }
  std::vector<Seq> messages() const override;

 private:
  // To read for a question. Counted: a lock that the graph's growth takes again at once would let
  // none of them in.
  std::shared_lock<std::shared_mutex> asked() const {
    questions_.fetch_add(1, std::memory_order_relaxed);
    return std::shared_lock(mutex_);
  }
  std::uint32_t audience_id(std::string_view agent, std::string_view audience);
  void drop_row(std::size_t row);
  void compact();  // removed rows leave, and with them the graph
  GraphRows graph_rows() const { return {&codes_, &scales_, padded_, &kernels_}; }
  bool search_graph(const Quantized& query, const std::vector<char>& open, std::size_t room,
                    std::vector<Scored>& out) const;
  void set_bits(std::size_t row);
  void centre();  // takes the mean anew and sets all bits
  std::vector<char> allowed(const VectorQuery& query, std::size_t& rows) const;
  double cosine(const Quantized& query, std::size_t row) const;
  // Rows from `from` on.
  void scan_all(const Quantized& query, const std::vector<char>& open, std::size_t room,
                std::size_t from, std::vector<Scored>& out) const;
  void scan_bits(const Quantized& query, const std::vector<char>& open, std::size_t room,
                 std::vector<Scored>& out) const;

  const ModelId model_;
  const ScanOptions options_;
  const VectorKernels& kernels_;
  const std::size_t padded_, words_;
  mutable std::shared_mutex mutex_;
  mutable std::atomic<std::uint64_t> questions_ = 0;
  std::vector<std::int8_t> codes_;
  std::vector<std::uint64_t> bits_;
  std::vector<float> scales_;
  std::vector<std::int64_t> messages_;
  std::vector<std::uint32_t> audiences_;
  std::unordered_map<std::string, std::uint32_t> audience_ids_;
  std::vector<std::size_t> audience_rows_ = {0};  // rows of each audience
  std::unique_ptr<VectorGraph> graph_;            // over the first rows; null: not worth it
  std::size_t unsaved_ = 0;
  std::unordered_multimap<std::int64_t, std::uint32_t> rows_of_;
  std::vector<float> mean_;
  std::size_t centred_at_ = 0;
};

}  // namespace clawmark
