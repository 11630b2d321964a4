#include "serve/vector_index.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "serve/vector_scan.h"

namespace clawmark {
namespace {

constexpr std::size_t kBackgroundRows = 1024;
constexpr std::size_t kGraphShare = 4;     // the graph serves whoever may see a quarter of the rows
constexpr std::size_t kMeanSample = 4096;  // rows from which the centre of the sign bits is taken

std::string audience_key(std::string_view agent, std::string_view audience) {
  std::string key(agent);
  key.push_back('\0');
  return key.append(audience);
}

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

}  // namespace

std::uint32_t ScanIndex::audience_id(std::string_view agent, std::string_view audience) {
  const auto next = static_cast<std::uint32_t>(audience_ids_.size()) + 1;
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
  grow(codes_, entries.size() * padded_);
  grow(bits_, entries.size() * words_);
  grow(scales_, entries.size());
  grow(messages_, entries.size());
  grow(audiences_, entries.size());
  unsaved_ += entries.size();
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

std::vector<char> ScanIndex::allowed(const VectorQuery& query, std::size_t& rows) const {
  std::vector<char> open(audience_rows_.size());  // nobody's rows stay closed
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
                         std::size_t from, std::vector<Scored>& out) const {
  const auto worse = [](const Scored& a, const Scored& b) { return b < a; };
  for (std::size_t row = from; row < scales_.size(); ++row) {
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

// What the graph finds, and the rows that it does not know yet. False: there is no graph worth
// asking.
bool ScanIndex::search_graph(const Quantized& query, const std::vector<char>& open,
                             std::size_t room, std::vector<Scored>& out) const {
  if (!graph_ || graph_->size() * 2 < scales_.size()) return false;
  const std::size_t waiting = scales_.size() - graph_->size();
  if (waiting * padded_ > options_.full_scan_bytes) return false;
  scan_all(query, open, room, graph_->size(), out);
  const auto near = graph_->search(query.codes.data(), query.scale, room,
                                   std::max(options_.graph_breadth, room + room / 2),
                                   [&](std::uint32_t row) { return open[audiences_[row]] != 0; });
  for (const auto& [distance, row] : near) out.push_back({cosine(query, row), messages_[row]});
  return true;
}

std::vector<VectorHit> ScanIndex::search(const VectorQuery& query) const {
  if (query.vector.size() != static_cast<std::size_t>(model_.dims) || query.limit == 0) return {};
  const auto lock = asked();
  std::size_t rows = 0;
  const std::vector<char> open = allowed(query, rows);
  if (rows == 0) return {};
  const Quantized quantized = quantize(query.vector, padded_);
  const bool in_full = rows * padded_ <= options_.full_scan_bytes || rows <= options_.rescored;
  // Many rows may be chunks of one message: look wider until there are enough messages.
  std::size_t room = in_full ? query.limit * 4 + 16 : std::max(options_.rescored, query.limit * 4);
  bool ask_graph = !in_full && rows * kGraphShare >= scales_.size();
  for (;; room *= 8) {
    std::vector<Scored> scored;
    if (in_full) {
      scan_all(quantized, open, room, 0, scored);
    } else if (!ask_graph || !search_graph(quantized, open, query.limit + 16, scored)) {
      scan_bits(quantized, open, room, scored);
    }
    ask_graph = false;
    auto hits = best_per_message(scored, query.limit);
    if (hits.size() >= query.limit || room >= rows) return hits;
  }
}

std::vector<double> ScanIndex::cosines(std::span<const float> vector,
                                       std::span<const Seq> messages) const {
  std::vector<double> out(messages.size());
  if (vector.size() != static_cast<std::size_t>(model_.dims)) return out;
  const auto lock = asked();
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
  const auto lock = asked();
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
  for (const auto message : messages_) {
    if (message != 0) out.push_back({message});
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace clawmark
