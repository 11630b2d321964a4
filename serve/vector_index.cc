#include "serve/vector_index.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <shared_mutex>

#include "serve/vector_kernels.h"

namespace clawmark {
namespace {

constexpr std::size_t kBlock = 64;  // codes are padded to this
constexpr std::size_t kBackgroundRows = 1024;
constexpr std::size_t kMeanSample = 4096;  // rows from which the centre of the sign bits is taken

std::string audience_key(std::string_view agent, std::string_view audience) {
  std::string key(agent);
  key.push_back('\0');
  return key.append(audience);
}

struct Quantized {
  std::vector<std::int8_t> codes;
  float scale = 0;
};

Quantized quantize(std::span<const float> vector, std::size_t padded) {
  Quantized out;
  out.codes.resize(padded);
  float peak = 1e-20F;
  for (const float x : vector) peak = std::max(peak, std::fabs(x));
  out.scale = peak / 127.F;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    out.codes[i] =
        static_cast<std::int8_t>(std::lrintf(std::clamp(vector[i] / out.scale, -127.F, 127.F)));
  }
  return out;
}

struct Scored {
  double score;
  std::int64_t message;
  bool operator<(const Scored& other) const {  // the worse of two sorts first
    return score != other.score ? score < other.score : message > other.message;
  }
};

// Best score of each message, best first, cut to `limit`.
std::vector<VectorHit> best_per_message(std::vector<Scored>& rows, std::size_t limit) {
  std::sort(rows.begin(), rows.end(), [](const Scored& a, const Scored& b) { return b < a; });
  std::vector<VectorHit> out;
  std::unordered_map<std::int64_t, bool> seen;
  for (const Scored& row : rows) {
    if (out.size() >= limit) break;
    if (seen.emplace(row.message, true).second) out.push_back({{row.message}, row.score});
  }
  return out;
}

class ScanIndex final : public VectorIndex {
 public:
  ScanIndex(const ModelId& model, const ScanOptions& options)
      : model_(model),
        options_(options),
        kernels_(options.plain_kernels ? plain_kernels() : best_kernels()),
        padded_((static_cast<std::size_t>(std::max(model.dims, 1)) + kBlock - 1) / kBlock * kBlock),
        words_(padded_ / 64) {}

  ModelId model() const override { return model_; }
  Status add(std::span<const VectorEntry> entries) override;
  void remove(std::span<const Seq> messages) override;
  std::vector<VectorHit> search(const VectorQuery& query) const override;
  std::vector<double> cosines(std::span<const float> vector,
                              std::span<const Seq> messages) const override;
  Background background(const VectorQuery& query) const override;
  std::size_t size() const override {
    const std::shared_lock lock(mutex_);
    return scales_.size();
  }
  std::vector<Seq> messages() const override;

 private:
  std::uint32_t audience_id(std::string_view agent, std::string_view audience);
  void drop_row(std::size_t row);
  void set_bits(std::size_t row);
  void centre();  // takes the mean anew and sets all bits
  std::vector<char> allowed(const VectorQuery& query, std::size_t& rows) const;
  double cosine(const Quantized& query, std::size_t row) const;
  void scan_all(const Quantized& query, const std::vector<char>& open, std::size_t room,
                std::vector<Scored>& out) const;
  void scan_bits(const Quantized& query, const std::vector<char>& open, std::size_t room,
                 std::vector<Scored>& out) const;

  const ModelId model_;
  const ScanOptions options_;
  const VectorKernels& kernels_;
  const std::size_t padded_, words_;
  mutable std::shared_mutex mutex_;
  std::vector<std::int8_t> codes_;
  std::vector<std::uint64_t> bits_;
  std::vector<float> scales_;
  std::vector<std::int64_t> messages_;
  std::vector<std::uint32_t> audiences_;
  std::unordered_map<std::string, std::uint32_t> audience_ids_;
  std::vector<std::size_t> audience_rows_;  // rows of each audience
  std::unordered_multimap<std::int64_t, std::uint32_t> rows_of_;
  std::vector<float> mean_;
  std::size_t centred_at_ = 0;
};

std::uint32_t ScanIndex::audience_id(std::string_view agent, std::string_view audience) {
  const auto next = static_cast<std::uint32_t>(audience_ids_.size());
  const auto [at, fresh] = audience_ids_.try_emplace(audience_key(agent, audience), next);
  if (fresh) audience_rows_.push_back(0);
  return at->second;
}

Status ScanIndex::add(std::span<const VectorEntry> entries) {
  const std::unique_lock lock(mutex_);
  for (const VectorEntry& entry : entries) {
    if (entry.codes.size() != static_cast<std::size_t>(model_.dims)) {
      return make_error(ErrorKind::kInvalid, "vectors", "dims",
                        "a vector of another length than its model's was not indexed");
    }
  }
  for (const VectorEntry& entry : entries) {
    const std::size_t row = scales_.size();
    codes_.resize(codes_.size() + padded_);
    std::copy(entry.codes.begin(), entry.codes.end(),
              codes_.begin() + static_cast<std::ptrdiff_t>(row * padded_));
    bits_.resize(bits_.size() + words_);
    scales_.push_back(entry.scale);
    messages_.push_back(entry.message.value);
    const std::uint32_t audience = audience_id(entry.agent, entry.audience);
    audiences_.push_back(audience);
    ++audience_rows_[audience];
    rows_of_.emplace(entry.message.value, static_cast<std::uint32_t>(row));
    set_bits(row);
  }
  if (scales_.size() >= 2 * std::max<std::size_t>(centred_at_, 64) && centred_at_ < kMeanSample)
    centre();
  return Ok{};
}

void ScanIndex::set_bits(std::size_t row) {
  const std::int8_t* codes = &codes_[row * padded_];
  std::uint64_t* bits = &bits_[row * words_];
  std::fill(bits, bits + words_, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_.dims); ++i) {
    const float value = scales_[row] * static_cast<float>(codes[i]);
    if (value > (mean_.empty() ? 0.F : mean_[i])) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

void ScanIndex::centre() {
  const std::size_t sample = std::min(scales_.size(), kMeanSample);
  mean_.assign(padded_, 0.F);
  for (std::size_t row = 0; row < sample; ++row) {
    for (std::size_t i = 0; i < padded_; ++i) {
      mean_[i] +=
          scales_[row] * static_cast<float>(codes_[row * padded_ + i]) / static_cast<float>(sample);
    }
  }
  centred_at_ = scales_.size();
  for (std::size_t row = 0; row < scales_.size(); ++row) set_bits(row);
}

void ScanIndex::drop_row(std::size_t row) {
  const auto unlink = [this](std::int64_t message, std::size_t at) {
    const auto [from, to] = rows_of_.equal_range(message);
    for (auto it = from; it != to; ++it) {
      if (it->second == at) {
        rows_of_.erase(it);
        return;
      }
    }
  };
  const std::size_t last = scales_.size() - 1;
  --audience_rows_[audiences_[row]];
  unlink(messages_[row], row);
  if (row != last) {
    unlink(messages_[last], last);
    std::copy_n(&codes_[last * padded_], padded_, &codes_[row * padded_]);
    std::copy_n(&bits_[last * words_], words_, &bits_[row * words_]);
    scales_[row] = scales_[last];
    messages_[row] = messages_[last];
    audiences_[row] = audiences_[last];
    rows_of_.emplace(messages_[row], static_cast<std::uint32_t>(row));
  }
  codes_.resize(last * padded_);
  bits_.resize(last * words_);
  scales_.pop_back();
  messages_.pop_back();
  audiences_.pop_back();
}

void ScanIndex::remove(std::span<const Seq> messages) {
  const std::unique_lock lock(mutex_);
  for (const Seq message : messages) {
    for (auto at = rows_of_.find(message.value); at != rows_of_.end();
         at = rows_of_.find(message.value)) {
      drop_row(at->second);
    }
  }
}

std::vector<char> ScanIndex::allowed(const VectorQuery& query, std::size_t& rows) const {
  std::vector<char> open(audience_rows_.size());
  rows = 0;
  for (const std::string& audience : query.audiences) {
    const auto at = audience_ids_.find(audience_key(query.agent, audience));
    if (at == audience_ids_.end() || open[at->second]) continue;
    open[at->second] = 1;
    rows += audience_rows_[at->second];
  }
  return open;
}

double ScanIndex::cosine(const Quantized& query, std::size_t row) const {
  const std::int32_t dot = kernels_.dot(query.codes.data(), &codes_[row * padded_], padded_);
  return static_cast<double>(dot) * static_cast<double>(query.scale) *
         static_cast<double>(scales_[row]);
}

// The best `room` rows, by a heap whose front is the worst of them.
void ScanIndex::scan_all(const Quantized& query, const std::vector<char>& open, std::size_t room,
                         std::vector<Scored>& out) const {
  const auto worse = [](const Scored& a, const Scored& b) { return b < a; };
  for (std::size_t row = 0; row < scales_.size(); ++row) {
    if (!open[audiences_[row]]) continue;
    const Scored scored{cosine(query, row), messages_[row]};
    if (out.size() < room) {
      out.push_back(scored);
      std::push_heap(out.begin(), out.end(), worse);
    } else if (out.front() < scored) {
      std::pop_heap(out.begin(), out.end(), worse);
      out.back() = scored;
      std::push_heap(out.begin(), out.end(), worse);
    }
  }
}

// The `room` rows nearest by sign bits (and those as near as the last of them), compared in full.
void ScanIndex::scan_bits(const Quantized& query, const std::vector<char>& open, std::size_t room,
                          std::vector<Scored>& out) const {
  std::vector<std::uint64_t> bits(words_);
  for (std::size_t i = 0; i < static_cast<std::size_t>(model_.dims); ++i) {
    const float value = query.scale * static_cast<float>(query.codes[i]);
    if (value > (mean_.empty() ? 0.F : mean_[i])) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  // Two passes: how many rows lie at each distance, then the rows up to the distance that gives
  // enough.
  std::vector<std::uint16_t> distances(scales_.size());
  std::vector<std::size_t> histogram(padded_ + 1);
  for (std::size_t row = 0; row < scales_.size(); ++row) {
    if (!open[audiences_[row]]) continue;
    const std::uint32_t d = kernels_.hamming(bits.data(), &bits_[row * words_], words_);
    distances[row] = static_cast<std::uint16_t>(d);
    ++histogram[d];
  }
  std::size_t radius = 0;
  for (std::size_t got = 0; radius < histogram.size(); ++radius) {
    got += histogram[radius];
    if (got >= room) break;
  }
  for (std::size_t row = 0; row < scales_.size(); ++row) {
    if (!open[audiences_[row]] || distances[row] > radius) continue;
    out.push_back({cosine(query, row), messages_[row]});
  }
}

std::vector<VectorHit> ScanIndex::search(const VectorQuery& query) const {
  if (query.vector.size() != static_cast<std::size_t>(model_.dims) || query.limit == 0) return {};
  const std::shared_lock lock(mutex_);
  std::size_t rows = 0;
  const std::vector<char> open = allowed(query, rows);
  if (rows == 0) return {};
  const Quantized quantized = quantize(query.vector, padded_);
  const bool in_full = rows * padded_ <= options_.full_scan_bytes || rows <= options_.rescored;
  // Many rows may be chunks of one message: look wider until there are enough messages.
  std::size_t room = in_full ? query.limit * 4 + 16 : std::max(options_.rescored, query.limit * 4);
  for (;; room *= 8) {
    std::vector<Scored> scored;
    if (in_full) {
      scan_all(quantized, open, room, scored);
    } else {
      scan_bits(quantized, open, room, scored);
    }
    auto hits = best_per_message(scored, query.limit);
    if (hits.size() >= query.limit || room >= rows) return hits;
  }
}

std::vector<double> ScanIndex::cosines(std::span<const float> vector,
                                       std::span<const Seq> messages) const {
  std::vector<double> out(messages.size());
  if (vector.size() != static_cast<std::size_t>(model_.dims)) return out;
  const std::shared_lock lock(mutex_);
  const Quantized quantized = quantize(vector, padded_);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto [from, to] = rows_of_.equal_range(messages[i].value);
    for (auto it = from; it != to; ++it) out[i] = std::max(out[i], cosine(quantized, it->second));
  }
  return out;
}

VectorIndex::Background ScanIndex::background(const VectorQuery& query) const {
  Background out;
  if (query.vector.size() != static_cast<std::size_t>(model_.dims)) return out;
  const std::shared_lock lock(mutex_);
  std::size_t rows = 0;
  const std::vector<char> open = allowed(query, rows);
  if (rows == 0) return out;
  const Quantized quantized = quantize(query.vector, padded_);
  const std::size_t step = std::max<std::size_t>(1, scales_.size() / kBackgroundRows);
  double sum = 0, squares = 0;
  for (std::size_t row = 0; row < scales_.size(); row += step) {
    if (!open[audiences_[row]]) continue;
    const double c = cosine(quantized, row);
    sum += c;
    squares += c * c;
    ++out.rows;
  }
  if (out.rows == 0) return out;
  const auto n = static_cast<double>(out.rows);
  out.mean = sum / n;
  out.deviation = std::sqrt(std::max(0.0, squares / n - out.mean * out.mean));
  return out;
}

std::vector<Seq> ScanIndex::messages() const {
  const std::shared_lock lock(mutex_);
  std::vector<Seq> out;
  out.reserve(messages_.size());
  for (const auto message : messages_) out.push_back({message});
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::unique_ptr<VectorIndex> make_scan_index(const ModelId& model, const ScanOptions& options) {
  return std::make_unique<ScanIndex>(model, options);
}

}  // namespace clawmark
