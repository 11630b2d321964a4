// The index as something that changes and is kept: rows that leave, the graph that grows, the copy
// on disk.

#include <algorithm>
#include <cstring>
#include <mutex>

#include "serve/vector_scan.h"

namespace clawmark {
namespace {

constexpr std::size_t kDeadMin = 256;  // removed rows from which the rest is moved together, …
constexpr std::size_t kDeadShare = 5;  // … once they are every fifth

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

}  // namespace

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
  const std::uint64_t asked = questions();
  for (std::size_t n = 0; n < rows && (n == 0 || questions() == asked); ++n) {
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
