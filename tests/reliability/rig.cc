#include "tests/reliability/rig.h"

#include "projections/graph_projection.h"
#include "tests/workers/graph_support.h"

namespace clawmark::reliability {
namespace {

constexpr std::int64_t kStartMs = 1'795'000'000'000;
constexpr std::size_t kLivesBefore = 12;
constexpr std::int64_t kPeople = 2;

std::string uuid_of(std::uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012llx",
                static_cast<unsigned long long>(number));
  return text;
}

// The graph's and the summaries' models are asked over the wire; their fakes read only the status.
Result<HttpResponse> model_answers() {
  HttpResponse response;
  response.status = 200;
  return response;
}

}  // namespace

Rig::Rig(std::uint64_t seed) : clock_(TimeMs{kStartMs}), random_(seed) {
  disk_ = std::make_unique<Disk>(dir_.path(), seed);
  judges_.push_back(make_messages_projection());
  judges_.push_back(make_facts_projection({}));
  judges_.push_back(make_graph_projection());
  for (const auto& judge : judges_) judge_list_.push_back(judge.get());
  for (const char* carrier : {"agent-db", "transcripts"}) {
    auto held = std::make_shared<FakeCarrier>();
    held->carrier = carrier;
    held->path = std::string("/fake/") + carrier;
    held->batch_items = 7;  // several commits to each stream
    carriers_.push_back(std::move(held));
  }
}

Rig::~Rig() {
  close();
}

std::vector<OpenSource> Rig::discover() const {
  std::vector<OpenSource> out;
  for (const auto& held : carriers_) {
    OpenSource open;
    open.source = std::make_unique<FakeSource>(held);
    open.agent = held->agent;
    open.preference = held->carrier == "agent-db" ? 1 : 2;
    out.push_back(std::move(open));
  }
  return out;
}

void Rig::add_message(FakeStream& stream) {
  const std::uint64_t number = ++next_id_;
  const bool person = stream.entries.size() % 2 == 0;
  std::string text = "word" + std::to_string(number) + " of " + stream.info.session_id;
  if (person && random_.below(3) == 0) {
    text = "remember pref.topic" + std::to_string(random_.below(6)) + " = value" +
           std::to_string(number);
  } else if (random_.below(8) == 0) {
    text += std::string(600, 'x') + " end";  // further pages
  }
  const TimeMs now = clock_.now();
  Entry entry = message(uuid_of(number), person ? "user" : "assistant", std::move(text), now.value,
                        stream.entries.empty() ? "" : stream.entries.back().entry_id);
  stream.entries.push_back(std::move(entry));
  stream.info.newest = now;
  clock_.advance(kSecondMs);
}

void Rig::grow() {
  const auto messages = 1 + random_.below(10);
  for (std::int64_t i = 0; i < messages; ++i) {
    FakeCarrier& carrier = *carriers_[static_cast<std::size_t>(random_.below(2))];
    if (carrier.streams.empty() || random_.below(12) == 0) {
      const std::string session = carrier.carrier + std::to_string(carrier.streams.size());
      carrier.streams.push_back(stream(
          session, {}, "agent:main:telegram:direct:" + std::to_string(random_.below(kPeople))));
    }
    const auto streams = static_cast<std::int64_t>(carrier.streams.size());
    add_message(carrier.streams[static_cast<std::size_t>(random_.below(streams))]);
  }
}

Status Rig::open() {
  StoreOptions where;
  where.path = dir_ / "clawmark.db";
  CLAWMARK_ASSIGN(auto store, Store::open(where, clock_));
  store_ = std::make_unique<Store>(std::move(store));
  if (checkpoint_pages > 0) {
    CLAWMARK_TRY(
        store_->db().exec("PRAGMA wal_autocheckpoint=" + std::to_string(checkpoint_pages)));
  }
  PipelineOptions options;
  options.retention = Retention::kVerbatim;
  options.discover = [this] { return discover(); };
  PipelineModels models{std::make_shared<FakeEmbedder>(), std::make_shared<FakeExtractor>(), "", "",
                        std::make_shared<FakeGraph>(),    std::make_shared<FakeSummarizer>()};
  auto made = Pipeline::make(*store_, clock_, std::move(models), options);
  if (!made.ok()) return made.error();
  pipeline_ = std::move(made).value();
  return Ok{};
}

void Rig::close() {
  pipeline_.reset();
  store_.reset();
}

void Rig::prepare(std::size_t messages) {
  // In many lives, as each start closes the chunks of all sessions: so that summaries are about to
  // be joined.
  for (std::size_t life = 1; life <= kLivesBefore; ++life) {
    while (next_id_ < messages * life / kLivesBefore) grow();
    const auto opened = open();
    ASSERT_TRUE(opened.ok()) << describe(opened.error());
    const auto report = work(0);
    ASSERT_TRUE(report.ok() && report->done);
    close();  // the last connection checkpoints and syncs
  }
  start_.image = disk_->image();
  start_.now = clock_.now();
  start_.next_id = next_id_;
  for (const auto& held : carriers_) start_.carriers.push_back(*held);
}

void Rig::rewind(std::uint64_t seed) {
  close();
  disk_->restore(*start_.image);
  clock_.set(start_.now);
  random_ = Random(seed);
  next_id_ = start_.next_id;
  for (std::size_t i = 0; i < carriers_.size(); ++i) *carriers_[i] = start_.carriers[i];
  acknowledged_.clear();
  cursors_.clear();
}

Status Rig::user_command() {
  NewEvent event;
  event.type = event_type::kFactStated;
  event.scope.agent = "main";
  event.scope.session_key = "agent:main:main";
  event.scope.lane = Lane::kDirect;
  event.dedupe_key = "stated:" + uuid_of(++next_id_);
  event.occurred = clock_.now();
  event.payload = {{"key", "user.note" + std::to_string(random_.below(5))},
                   {"value", "n" + std::to_string(next_id_)},
                   {"holder", "person:owner"},
                   {"subject", ""},
                   {"source", "user"},
                   {"confidence", 1.0},
                   {"by", "cli"}};
  const auto status =
      state_fact ? state_fact(*pipeline_, *store_, event) : pipeline_->append_now({&event, 1});
  if (status.ok()) acknowledged_.push_back(event.dedupe_key);
  return status;
}

Result<DrainReport> Rig::work(int commands, int waits) {
  OnceOptions once;
  once.call = [](const HttpRequest&) { return model_answers(); };
  once.wait = [&](TimeMs until) {
    if (waits-- <= 0) return false;
    if (until > clock_.now()) clock_.advance(until.value - clock_.now().value);
    return true;
  };
  once.slice = [&] {
    if (disk_->is_dead()) return false;
    if (misbehave) misbehave(*store_, *pipeline_);
    if (commands > 0 && random_.below(6) == 0) {
      --commands;
      (void)user_command();  // not acknowledged when it failed: nothing is promised
    }
    return !disk_->is_dead();
  };
  auto report = pipeline_->run_until_idle(once);
  if (disk_->is_dead()) return DrainReport{};
  return report;
}

Violations Rig::check(bool after_power_loss) {
  if (after_power_loss) cursors_.clear();
  Violations out = check_anytime(store_->db(), judge_list_, cursors_, acknowledged_);
  for (Projection* projection : pipeline_->projections()) {
    // What rests on texts has no fold to compare with; it knows itself whether it is whole.
    if (!projection->replayable()) add(out, check_folds(store_->db(), {&projection, 1}));
  }
  return out;
}

Violations Rig::check_idle(const DrainReport& report) {
  Database& db = store_->db();
  Violations out = check_nobody_idle(report);
  EntryNames names;
  for (const auto& held : carriers_) {
    for (const auto& s : held->streams) {
      for (const auto& entry : s.entries) names.emplace_back("main", entry.entry_id);
    }
  }
  add(out, check_observed_once(db, names));
  add(out, check_rebuild(db, judge_list_, clock_.now()));
  const auto bare = db.query_int(
      "SELECT count(*) FROM messages m WHERE recallable = 1 AND NOT EXISTS (SELECT 1 FROM chunks c"
      " JOIN vectors v ON v.hash = c.hash WHERE c.message = m.seq)");
  if (!bare.ok() || bare->value_or(1) != 0) out.push_back("messages without a vector");
  const auto kept = db.query_int(
      "SELECT count(*) FROM messages WHERE bytes > 0 AND sha256 NOT IN (SELECT hash FROM bodies)");
  if (!kept.ok() || kept->value_or(1) != 0) out.push_back("messages without a text in the vault");
  add(out, check(false));
  return out;
}

}  // namespace clawmark::reliability
