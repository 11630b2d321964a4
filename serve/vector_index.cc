#include "serve/vector_index.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <shared_mutex>

#include "serve/vector_graph.h"
#include "serve/vector_kernels.h"

namespace clawmark {
namespace {

constexpr std::size_t kBlock = 64;  // codes are padded to this
constexpr std::size_t kBackgroundRows = 1024;
constexpr std::uint32_t kNobody = 0;       // audience of a row that was removed
constexpr std::size_t kDeadMin = 256;      // removed rows from which the rest is moved together, …
constexpr std::size_t kDeadShare = 5;      // … once they are every fifth
constexpr std::size_t kGraphShare = 4;     // the graph serves whoever may see a quarter of the rows
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

// Room for more, without the doubling that would leave half of a large index empty.
template <class T>
void grow(std::vector<T>& values, std::size_t more) {
  const std::size_t wanted = values.size() + more;
  if (wanted > values.capacity()) values.reserve(wanted + wanted / 8);
}

template <class T>
std::span<const char> bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
bool take(std::span<const char> bytes, std::vector<T>& values, std::size_t count) {
  if (bytes.size() != count * sizeof(T)) return false;
  const auto* from = reinterpret_cast<const T*>(bytes.data());
  grow(values, count);
  values.assign(from, from + count);
  return true;
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

// Nothing is left of it but its place, which the graph may still cross.
void ScanIndex::drop_row(std::size_t row) {
  --audience_rows_[audiences_[row]];
  ++audience_rows_[kNobody];
  audiences_[row] = kNobody;
  messages_[row] = 0;
  scales_[row] = 0;
  std::fill_n(&codes_[row * padded_], padded_, std::int8_t{0});
  std::fill_n(&bits_[row * words_], words_, std::uint64_t{0});
}

void ScanIndex::remove(std::span<const Seq> messages) {
  const std::unique_lock lock(mutex_);
  for (const Seq message : messages) {
    const auto [from, to] = rows_of_.equal_range(message.value);
    for (auto at = from; at != to; ++at) {
      drop_row(at->second);
      ++unsaved_;
    }
    rows_of_.erase(from, to);
  }
  const std::size_t dead = audience_rows_[kNobody];
  if (dead >= kDeadMin && dead * kDeadShare > scales_.size()) compact();
}

void ScanIndex::compact() {
  std::size_t kept = 0;
  rows_of_.clear();
  for (std::size_t row = 0; row < scales_.size(); ++row) {
    if (audiences_[row] == kNobody) continue;
    if (kept != row) {
      std::copy_n(&codes_[row * padded_], padded_, &codes_[kept * padded_]);
      std::copy_n(&bits_[row * words_], words_, &bits_[kept * words_]);
      scales_[kept] = scales_[row];
      messages_[kept] = messages_[row];
      audiences_[kept] = audiences_[row];
    }
    rows_of_.emplace(messages_[kept], static_cast<std::uint32_t>(kept));
    ++kept;
  }
  codes_.resize(kept * padded_);
  bits_.resize(kept * words_);
  scales_.resize(kept);
  messages_.resize(kept);
  audiences_.resize(kept);
  audience_rows_[kNobody] = 0;
  graph_.reset();
}

bool ScanIndex::improve(std::size_t rows) {
  {
    const std::unique_lock lock(mutex_);
    if (scales_.size() < options_.graph_rows) return false;
    if (!graph_) graph_ = std::make_unique<VectorGraph>(graph_rows());
  }
  for (std::size_t n = 0; n < rows; ++n) {
    const std::unique_lock lock(mutex_);  // searches wait for one row at most
    if (graph_->size() >= scales_.size()) return false;
    graph_->add_next();
    ++unsaved_;
  }
  const std::shared_lock lock(mutex_);
  return graph_->size() < scales_.size();
}

VectorIndex::Sizes ScanIndex::sizes() const {
  const std::shared_lock lock(mutex_);
  Sizes out;
  out.rows = scales_.size();
  out.linked = graph_ ? graph_->size() : 0;
  out.vector_bytes = codes_.capacity();
  out.graph_bytes = graph_ ? graph_->bytes() : 0;
  out.other_bytes = bits_.capacity() * 8 + scales_.capacity() * 4 + messages_.capacity() * 8 +
                    audiences_.capacity() * 4 + rows_of_.size() * 40 + rows_of_.bucket_count() * 8;
  return out;
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
  const std::shared_lock lock(mutex_);
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
  for (const auto message : messages_) {
    if (message != 0) out.push_back({message});
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Status ScanIndex::save(const std::string& path, const IndexStamp& stamp) {
  const std::shared_lock lock(mutex_);  // the one writer is who asks
  std::vector<std::uint64_t> counts = {scales_.size(), padded_, centred_at_, audience_ids_.size()};
  std::vector<char> names;
  std::vector<std::string_view> by_id(audience_ids_.size());
  for (const auto& [name, id] : audience_ids_) by_id[id - 1] = name;
  for (const std::string_view name : by_id) {
    const auto size = static_cast<std::uint32_t>(name.size());
    const char* bytes = reinterpret_cast<const char*>(&size);
    names.insert(names.end(), bytes, bytes + sizeof size);
    names.insert(names.end(), name.begin(), name.end());
  }
  Snapshot snapshot{model_,
                    stamp,
                    {bytes_of(counts), bytes_of(codes_), bytes_of(bits_), bytes_of(scales_),
                     bytes_of(messages_), bytes_of(audiences_), bytes_of(mean_), bytes_of(names)}};
  std::vector<std::span<const char>> links;
  std::vector<std::vector<char>> owned;
  if (graph_ && graph_->size() > 0) graph_->save(links, owned);
  snapshot.parts.insert(snapshot.parts.end(), links.begin(), links.end());
  CLAWMARK_TRY(write_snapshot(path, snapshot));
  unsaved_ = 0;
  return Ok{};
}

bool ScanIndex::load(const Snapshot& snapshot) {
  const auto& parts = snapshot.parts;
  std::vector<std::uint64_t> counts;
  if (parts.size() < 8 || !take(parts[0], counts, 4) || counts[1] != padded_) return false;
  const auto rows = static_cast<std::size_t>(counts[0]);
  const std::size_t means = parts[6].empty() ? 0 : padded_;
  if (!take(parts[1], codes_, rows * padded_) || !take(parts[2], bits_, rows * words_) ||
      !take(parts[3], scales_, rows) || !take(parts[4], messages_, rows) ||
      !take(parts[5], audiences_, rows) || !take(parts[6], mean_, means)) {
    return false;
  }
  centred_at_ = static_cast<std::size_t>(counts[2]);
  std::span<const char> names = parts[7];
  for (std::uint32_t id = 1; id <= counts[3]; ++id) {
    std::uint32_t size = 0;
    if (names.size() < sizeof size) return false;
    std::memcpy(&size, names.data(), sizeof size);
    names = names.subspan(sizeof size);
    if (size > names.size()) return false;
    audience_ids_.emplace(std::string(names.data(), size), id);
    names = names.subspan(size);
  }
  audience_rows_.assign(audience_ids_.size() + 1, 0);
  rows_of_.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    if (audiences_[row] >= audience_rows_.size()) return false;
    ++audience_rows_[audiences_[row]];
    if (messages_[row] != 0) rows_of_.emplace(messages_[row], static_cast<std::uint32_t>(row));
  }
  if (parts.size() == 11) {
    graph_ = std::make_unique<VectorGraph>(graph_rows());
    // The three parts lie side by side.
    const std::span<const char> links(parts[8].data(),
                                      parts[8].size() + parts[9].size() + parts[10].size());
    if (!graph_->load(links, rows)) return false;
  }
  return true;
}

}  // namespace

std::unique_ptr<VectorIndex> make_vector_index(const ModelId& model, const ScanOptions& options) {
  return std::make_unique<ScanIndex>(model, options);
}

Result<LoadedIndex> load_vector_index(const std::string& path, const ModelId& model,
                                      const ScanOptions& options) {
  CLAWMARK_ASSIGN(const MappedSnapshot mapped, MappedSnapshot::open(path));
  if (mapped.snapshot().model != model) {
    return make_error(ErrorKind::kInvalid, "index", "snapshot_model",
                      "the index snapshot is of another model");
  }
  auto index = std::make_unique<ScanIndex>(model, options);
  if (!index->load(mapped.snapshot())) {
    return make_error(ErrorKind::kInvalid, "index", "snapshot_damaged",
                      "the index snapshot is damaged; it is made again from the store");
  }
  return LoadedIndex{std::move(index), mapped.snapshot().stamp};
}

}  // namespace clawmark
