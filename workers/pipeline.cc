#include "workers/pipeline.h"

#include <chrono>
#include <future>

#include "base/limits.h"
#include "base/logging.h"
#include "projections/graph_projection.h"
#include "projections/history.h"
#include "projections/rebuild.h"
#include "sources/text_cleaner.h"
#include "workers/decay.h"
#include "workers/driver.h"
#include "workers/embed.h"
#include "workers/explore.h"
#include "workers/extract.h"
#include "workers/graph.h"
#include "workers/graph_condense.h"
#include "workers/ingest.h"
#include "workers/keep.h"
#include "workers/model_machine.h"
#include "workers/parking.h"
#include "workers/poll_machine.h"
#include "workers/project.h"
#include "workers/purge.h"
#include "workers/source_bodies.h"

namespace clawmark {
namespace {

constexpr std::size_t kLocalWindowMessages = 100;  // built-in rules look at each message by itself

}  // namespace

struct Pipeline::State {
  State(Store& s, const Clock& c, PipelineModels m, PipelineOptions o)
      : store(s), clock(c), models(std::move(m)), options(std::move(o)) {}

  Store& store;
  const Clock& clock;
  PipelineModels models;
  PipelineOptions options;
  Bell bell;
  std::unique_ptr<SourceBodies> resolver;
  std::unique_ptr<BodyStore> bodies;
  std::vector<std::unique_ptr<Projection>> projections;
  std::vector<Projection*> projection_list;
  std::vector<std::string> folded_again;
  std::vector<std::unique_ptr<WorkerLoop>> loops;
  std::vector<WorkerLoop*> loop_list;
  std::shared_ptr<QuietBoard> quiet = std::make_shared<QuietBoard>();
  std::unique_ptr<Driver> driver;
  std::uint64_t next_seed = 0;

  std::uint64_t seed() { return options.seed * 1000003 + ++next_seed; }
  void add(std::unique_ptr<Machine> machine, std::unique_ptr<Port> port);
  void add_polling(std::unique_ptr<Port> port);
  void add_model(std::shared_ptr<ModelWork> work, std::unique_ptr<Port> port, std::string origin);
  void build();
  Status fold_now(TimeMs now);
};

void Pipeline::State::add(std::unique_ptr<Machine> machine, std::unique_ptr<Port> port) {
  loops.push_back(std::make_unique<WorkerLoop>(std::move(machine), std::move(port), clock));
  loop_list.push_back(loops.back().get());
}

void Pipeline::State::add_polling(std::unique_ptr<Port> port) {
  add(std::make_unique<PollMachine>(seed(), options.poll_ms), std::move(port));
}

void Pipeline::State::add_model(std::shared_ptr<ModelWork> work, std::unique_ptr<Port> port,
                                std::string origin) {
  MachineOptions machine;
  machine.seed = seed();
  machine.poll_ms = options.poll_ms;
  machine.origin = std::move(origin);
  machine.quiet = quiet;
  add(std::make_unique<ModelMachine>(std::move(work), std::move(machine)), std::move(port));
}

void Pipeline::State::build() {
  auto discover = options.discover;
  if (!discover) {
    discover = [sources = options.sources, &c = clock] { return discover_sources(sources, c); };
  }
  resolver = std::make_unique<SourceBodies>(discover, clock);
  bodies = std::make_unique<BodyStore>(options.retention, resolver.get());
  projections.push_back(make_messages_projection());
  projections.push_back(make_facts_projection({options.confidence_threshold}));
  projections.push_back(make_graph_projection());
  if (options.search) {
    projections.push_back(make_search_projection(
        *bodies, [](std::string_view raw) { return presentable_text(raw); }));
    projections.push_back(make_history_projection(
        *bodies, [](std::string_view raw) { return presentable_text(raw); }));
  }
  IngestOptions ingest;
  ingest.discover = discover;
  ingest.ignore_sessions = options.sources.ignore_sessions;
  ingest.order_as_found = options.order_as_found;
  add_polling(std::make_unique<IngestPort>(store, *bodies, std::move(ingest)));
  for (const auto& projection : projections) {
    projection_list.push_back(projection.get());
    add_polling(std::make_unique<ProjectPort>(store, *projection));
  }
  if (models.extractor) {
    ExtractOptions extract;
    extract.idle_hours = options.idle_hours;
    extract.limits = options.limits;
    extract.window_messages = options.window_messages;
    if (extract.window_messages == 0) {
      extract.window_messages =
          models.extractor->is_local() ? kLocalWindowMessages : kWindowMessages;
    }
    add_model(
        std::make_shared<ExtractWork>(models.extractor, options.zone, extract.window_messages),
        std::make_unique<ExtractPort>(store, *bodies, models.extractor, extract),
        models.extract_origin);
  }
  const std::string& graph_origin =
      options.graph_origin.empty() ? models.extract_origin : options.graph_origin;
  if (models.graph) {
    const auto again = std::make_shared<SecondTries>();
    add_model(std::make_shared<GraphWork>(models.graph, options.zone, again),
              std::make_unique<GraphPort>(
                  store, *bodies, models.graph,
                  GraphOptions{options.idle_hours, options.limits, options.leaf_chunk_tokens,
                               options.leaf_target_tokens},
                  again),
              models.graph->is_local() ? "" : graph_origin);
  }
  if (models.summarizer) {
    const auto job = std::make_shared<CondenseJob>();
    add_model(std::make_shared<CondenseWork>(models.summarizer, job),
              std::make_unique<CondensePort>(store, models.summarizer, job, options.limits,
                                             options.condensed_target_tokens),
              graph_origin);
  }
  if (models.embedder) {
    add_model(std::make_shared<EmbedWork>(models.embedder),
              std::make_unique<EmbedPort>(store, *bodies, models.embedder, options.limits),
              models.embed_origin);
  }
  add_polling(std::make_unique<KeepPort>(store, *bodies));
  add_polling(std::make_unique<ExplorePort>(store, *bodies, options.large_file_tokens));
  add_polling(std::make_unique<DecayPort>(store));
  add_polling(std::make_unique<ForgetPort>(store, projection_list));
}

Pipeline::Pipeline(std::unique_ptr<State> state) : state_(std::move(state)) {}
Pipeline::~Pipeline() {
  stop();
}

Result<std::unique_ptr<Pipeline>> Pipeline::make(Store& store, const Clock& clock,
                                                 PipelineModels models, PipelineOptions options) {
  auto state = std::make_unique<State>(store, clock, std::move(models), std::move(options));
  state->build();
  CLAWMARK_TRY(keep_prices(store.db(), state->options.prices));
  CLAWMARK_TRY(ensure_projections(store.db(), state->projection_list));
  CLAWMARK_ASSIGN(const auto outdated, outdated_projections(store.db(), state->projection_list));
  for (const auto& name : outdated) {
    for (Projection* projection : state->projection_list) {
      if (projection->name() != name) continue;
      log_info("workers", "rebuilding projection " + name);
      CLAWMARK_TRY(rebuild(store.db(), *projection, clock.now(), {}));
    }
  }
  state->folded_again = outdated;
  return std::unique_ptr<Pipeline>(new Pipeline(std::move(state)));
}

Result<bool> Pipeline::serve_context(bool ours) {
  bool all = false;
  CLAWMARK_TRY(run_on_writer([&](Store&) -> Status {
    State& s = *state_;
    if (s.options.retention == Retention::kRewritten) {  // auto
      s.bodies->set_retention(ours ? Retention::kVerbatim : Retention::kRewritten);
    }
    all = s.bodies->retention() == Retention::kVerbatim;
    return Ok{};
  }));
  notify();
  return all;
}

Result<DrainReport> Pipeline::run_until_idle(const OnceOptions& once) {
  CLAWMARK_ASSIGN(auto report, clawmark::run_until_idle(state_->loop_list, state_->clock, once));
  CLAWMARK_ASSIGN(report.parked, count_parked(state_->store.db(), ""));
  return report;
}

void Pipeline::start(const TransportOptions& transport) {
  State& s = *state_;
  if (s.driver) return;
  s.driver = std::make_unique<Driver>(s.store, s.clock, s.loop_list);
  s.bell.listen([driver = s.driver.get()] { driver->wake(); });
  s.driver->start(transport);
}

void Pipeline::stop() {
  if (state_->driver) state_->driver->stop();
}

bool Pipeline::running() const {
  return state_->driver && state_->driver->running();
}

void Pipeline::notify() {
  state_->bell.ring();
}

Result<DrainReport> Pipeline::drain(std::int64_t timeout_ms, bool unripe) {
  if (!running()) return run_until_idle();
  auto promise = std::make_shared<std::promise<DrainReport>>();
  auto future = promise->get_future();
  state_->driver->drain(unripe,
                        [promise](DrainReport report) { promise->set_value(std::move(report)); });
  DrainReport report;
  if (future.wait_for(std::chrono::milliseconds(timeout_ms)) == std::future_status::ready) {
    report = future.get();
  } else {
    CLAWMARK_TRY(run_on_writer([&](Store&) -> Status {
      CLAWMARK_ASSIGN(report, remaining_work(state_->loop_list, state_->clock.now()));
      return Ok{};
    }));
    report.done = false;
  }
  CLAWMARK_TRY(run_on_writer([&](Store& store) -> Status {
    CLAWMARK_ASSIGN(report.parked, count_parked(store.db(), ""));
    return Ok{};
  }));
  return report;
}

Status Pipeline::run_on_writer(const std::function<Status(Store&)>& work) {
  if (!running()) return work(state_->store);
  auto promise = std::make_shared<std::promise<Status>>();
  auto future = promise->get_future();
  state_->driver->post([promise, &work](Store& store) { promise->set_value(work(store)); });
  return future.get();
}

// What a command changes must be so when it is acknowledged: facts, and what may be recalled.
Status Pipeline::State::fold_now(TimeMs now) {
  for (Projection* projection : projection_list) {
    if (!projection->replayable()) continue;
    for (;;) {
      CLAWMARK_ASSIGN(const int generation, live_generation(store.db(), projection->name()));
      CLAWMARK_ASSIGN(const auto passed,
                      fold_step(store.db(), *projection, generation, kFoldBatch, now));
      if (passed == 0) break;
    }
  }
  return Ok{};
}

Status Pipeline::append_now(std::span<const NewEvent> events) {
  State& s = *state_;
  auto status = run_on_writer([&](Store& store) -> Status {
    CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
    CLAWMARK_TRY(store.log().append(txn, events));
    CLAWMARK_TRY(txn.commit());
    return s.fold_now(s.clock.now());
  });
  if (status.ok()) s.bell.ring();
  return status;
}

Result<std::size_t> Pipeline::retry_parked(std::string_view worker, Seq event) {
  std::size_t count = 0;
  CLAWMARK_TRY(run_on_writer([&](Store& store) -> Status {
    CLAWMARK_ASSIGN(count, clawmark::retry_parked(store, worker, event, state_->clock.now()));
    return Ok{};
  }));
  notify();
  return count;
}

std::vector<WorkerStatus> Pipeline::status() const {
  State& s = *state_;
  if (s.driver) return s.driver->status();
  std::vector<WorkerStatus> out;
  for (WorkerLoop* loop : s.loop_list) {
    WorkerStatus row;
    row.name = loop->name();
    row.generation = loop->port().id().generation;
    row.condition = loop->condition();
    row.pending = row.condition.pending;
    row.commits = loop->commits();
    out.push_back(std::move(row));
  }
  return out;
}

std::int64_t Pipeline::beat_age_ms() const {
  return running() ? state_->driver->beat_age_ms() : 0;
}

Result<BacklogEstimate> Pipeline::estimate() {
  BacklogCounts counts;
  CLAWMARK_TRY(run_on_writer([&](Store& store) -> Status {
    Database& db = store.db();
    CLAWMARK_ASSIGN(const auto bytes,
                    db.query_int("SELECT coalesce(sum(payload ->> '$.bytes'), 0) FROM events"
                                 " WHERE type = ?",
                                 event_type::kMessageObserved));
    CLAWMARK_ASSIGN(const auto messages, db.query_int("SELECT count(*) FROM events WHERE type = ?",
                                                      event_type::kMessageObserved));
    if (messages.value_or(0) > 0) {
      counts.bytes_mean = static_cast<double>(bytes.value_or(0)) / static_cast<double>(*messages);
    }
    const PipelineModels& models = state_->models;
    for (WorkerLoop* loop : state_->loop_list) {
      const bool embed = loop->name() == "embed", extract = loop->name() == "extract";
      if (!embed && !extract) continue;
      CLAWMARK_ASSIGN(const auto pending, loop->port().pending(state_->clock.now()));
      (embed ? counts.messages_to_embed : counts.messages_to_extract) = pending;
      if (embed && !models.embedder->is_local()) counts.embed_model = models.embedder->model().name;
      if (extract && !models.extractor->is_local()) {
        counts.extract_model = models.extractor->model();
      }
    }
    return Ok{};
  }));
  return estimate_backlog(counts, state_->options.prices);
}

const std::vector<std::string>& Pipeline::folded_again() const {
  return state_->folded_again;
}

std::span<Projection* const> Pipeline::projections() const {
  return state_->projection_list;
}
BodyStore& Pipeline::bodies() {
  return *state_->bodies;
}
Bell& Pipeline::bell() {
  return state_->bell;
}

}  // namespace clawmark
