#include "serve/index_keeper.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/logging.h"
#include "projections/rebuild.h"
#include "projections/vectors.h"

namespace clawmark {
namespace {

constexpr std::size_t kLoadRows = 2000;           // rows read, then added, at a time
constexpr std::int64_t kCompareEveryMs = 30'000;  // for vectors that were filled in later
// While somebody asks, the graph grows by a row in so many pauses: one question is several reads.
constexpr auto kPause = std::chrono::milliseconds(10);
constexpr int kPausesMax = 5;
constexpr std::size_t kImproveRows = 256;  // linked into the graph between two looks
constexpr std::size_t kSaveRows = 2000;    // changed rows worth a snapshot, …
constexpr std::size_t kSaveShare = 20;     // … and a twentieth of all
constexpr std::int64_t kSaveEveryMs = 60'000;
constexpr auto kLookEvery = std::chrono::seconds(1);

Status add_all(VectorIndex& index, const std::vector<StoredVector>& rows) {
  std::vector<VectorEntry> entries;
  entries.reserve(rows.size());
  const auto dims = static_cast<std::size_t>(index.model().dims);
  for (const StoredVector& row : rows) {
    if (row.codes.size() != dims) continue;  // a vector of another length is never compared
    entries.push_back({row.message, row.agent, row.audience, row.scale, row.codes});
  }
  return index.add(entries);
}

}  // namespace

IndexKeeper::IndexKeeper(Readers& readers, const Clock& clock, std::function<ModelId()> model)
    : readers_(readers), clock_(clock), wanted_(std::move(model)) {}

IndexKeeper::~IndexKeeper() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (keeps_snapshot_ && index_ && state_.loaded && index_->unsaved() >= kSaveRows) {
    (void)index_->save(snapshot_, {loaded_to_.value, removal_seen_.value, generation_, model_row_});
  }
}

void IndexKeeper::start() {
  keeps_snapshot_ = true;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void IndexKeeper::poke() {
  {
    const std::lock_guard lock(mutex_);
    poked_ = true;
  }
  changed_.notify_all();
}

std::shared_ptr<const VectorIndex> IndexKeeper::index() const {
  const std::lock_guard lock(mutex_);
  return index_;
}

IndexState IndexKeeper::state() const {
  const std::lock_guard lock(mutex_);
  IndexState state = state_;
  if (index_) state.vectors = index_->size();
  return state;
}

void IndexKeeper::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    poked_ = false;
    lock.unlock();
    const Status looked = refresh();
    if (looked.ok()) improve();
    lock.lock();
    if (!looked.ok() && state_.failure != describe(looked.error())) {
      log_warning("index", describe(looked.error()));
    }
    state_.failure = looked.ok() ? std::string() : describe(looked.error());
    changed_.wait_for(lock, kLookEvery, [this] { return stop_ || poked_; });
  }
}

Status IndexKeeper::refresh() {
  const std::lock_guard refreshing(refresh_mutex_);
  const ModelId wanted = wanted_();
  CLAWMARK_ASSIGN(auto lease, readers_.lease());
  Database& db = *lease;
  CLAWMARK_ASSIGN(const auto row, find_embedding_model(db, wanted.name));
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "messages"));
  const bool usable = row && row->dims > 0 && (wanted.dims == 0 || wanted.dims == row->dims);
  const bool other = !usable || row->id != model_row_ || generation != generation_;
  if (other) {
    model_row_ = usable ? row->id : 0;
    generation_ = generation;
    loaded_to_ = {};
    compared_at_ = clock_.steady_ms();
    CLAWMARK_ASSIGN(removal_seen_, newest_removal(db));
    const auto fresh = usable ? begin(db, {wanted.name, row->dims}) : nullptr;
    const std::lock_guard lock(mutex_);
    index_ = fresh;
    state_ = {};
    state_.model = usable ? ModelId{wanted.name, row->dims} : wanted;
    state_.loaded = !usable;
  }
  if (!usable) return Ok{};
  CLAWMARK_TRY(load_new(db));
  CLAWMARK_ASSIGN(const Seq removal, newest_removal(db));
  if (removal != removal_seen_ || clock_.steady_ms() - compared_at_ >= kCompareEveryMs) {
    CLAWMARK_TRY(compare_all(db));
    removal_seen_ = removal;
    compared_at_ = clock_.steady_ms();
  }
  const std::lock_guard lock(mutex_);
  state_.loaded = true;
  return Ok{};
}

std::shared_ptr<VectorIndex> IndexKeeper::begin(Database& db, const ModelId& model) {
  snapshot_ = db.path().empty() ? std::string() : db.path() + ".vectors";
  saved_at_ = clock_.steady_ms() - kSaveEveryMs;
  auto loaded = load_vector_index(snapshot_, model);
  if (loaded.ok() && loaded->stamp.model_row == model_row_ &&
      loaded->stamp.generation == generation_) {
    loaded_to_ = {loaded->stamp.loaded_to};
    removal_seen_ = {loaded->stamp.removal_seen};
    compared_at_ = clock_.steady_ms() - kCompareEveryMs;  // at this very look
    saved_at_ = clock_.steady_ms();
    return std::move(loaded->index);
  }
  if (!loaded.ok() && loaded.error().kind == ErrorKind::kInvalid) {
    log_warning("index", describe(loaded.error()));
    if (keeps_snapshot_) ::rename(snapshot_.c_str(), (snapshot_ + ".bad").c_str());
  }
  return make_vector_index(model);
}

// Between two looks, on the thread: the graph grows, and what was done is written down.
void IndexKeeper::improve() {
  const std::lock_guard refreshing(refresh_mutex_);
  const auto index = index_;
  if (!index) return;
  std::uint64_t asked = index->questions();
  while (index->improve(kImproveRows)) {
    std::unique_lock lock(mutex_);
    for (int pause = 0; pause < kPausesMax && index->questions() != asked; ++pause) {
      asked = index->questions();
      changed_.wait_for(lock, kPause, [this] { return stop_ || poked_; });
    }
    asked = index->questions();
    if (stop_ || poked_) return;
    if (clock_.steady_ms() - saved_at_ >= kSaveEveryMs) break;
  }
  const std::size_t unsaved = index->unsaved();
  if (!keeps_snapshot_ || unsaved < kSaveRows || unsaved * kSaveShare < index->size() ||
      clock_.steady_ms() - saved_at_ < kSaveEveryMs) {
    return;
  }
  const Status saved =
      index->save(snapshot_, {loaded_to_.value, removal_seen_.value, generation_, model_row_});
  if (!saved.ok()) log_warning("index", describe(saved.error()));
  saved_at_ = clock_.steady_ms();
}

Status IndexKeeper::load_new(Database& db) {
  for (;;) {
    CLAWMARK_ASSIGN(const auto rows, read_vectors(db, model_row_, loaded_to_, kLoadRows));
    if (rows.empty()) return Ok{};
    CLAWMARK_TRY(add_all(*index_, rows));
    loaded_to_ = rows.back().message;
    const std::lock_guard lock(mutex_);
    if (stop_) return Ok{};
  }
}

Status IndexKeeper::compare_all(Database& db) {
  CLAWMARK_ASSIGN(const std::vector<Seq> want, vector_messages(db, model_row_));
  const std::vector<Seq> have = index_->messages();
  std::vector<Seq> gone, missing;
  std::set_difference(have.begin(), have.end(), want.begin(), want.end(), std::back_inserter(gone));
  std::set_difference(want.begin(), want.end(), have.begin(), have.end(),
                      std::back_inserter(missing));
  index_->remove(gone);
  // What was forgotten is not kept in a copy either.
  if (!gone.empty() && !snapshot_.empty()) ::unlink(snapshot_.c_str());
  CLAWMARK_ASSIGN(const auto rows, read_vectors_of(db, model_row_, missing));
  return add_all(*index_, rows);
}

}  // namespace clawmark
