// All worker machines together, for days of virtual time in seconds, by a seed.
//
// Method. The machines are pure (workers/machine.h), so a scheduler plays the rest: a source that
// speaks in bursts, a store that now and then is busy or full, a model server whose weather changes
// (sim_endpoint.h), texts that the server can never stomach, crashes at any action (also between a
// commit and its acknowledgement), and a wall clock that jumps both ways. Requests and answers are
// real bytes through the real endpoint models. Checked at every step: nobody stops, no vector
// belongs to another text, nothing is done twice, no cursor passes over what was not done, only
// poisonous texts are parked, no request before the time that the server asked for. After enough
// good weather, and at the end: everything is done but for the poison.
//
//   CLAWMARK_SIM_STEPS=100000000  how many steps (default 5,000,000)
//   CLAWMARK_SEED=17             that run alone

#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <set>

#include "base/limits.h"
#include "tests/reliability/report.h"
#include "tests/reliability/sim_endpoint.h"
#include "workers/embed.h"
#include "workers/extract.h"
#include "workers/graph.h"
#include "workers/graph_condense.h"
#include "workers/poll_machine.h"

namespace clawmark::reliability {
namespace {

constexpr std::int64_t kSleepMaxMs = 60'000;  // as the driver: a jump must not make it oversleep
constexpr std::int64_t kStepsOfRun = 20'000;
// A back-off at its longest with its jitter, one Retry-After, and the tries of a stuck text.
constexpr std::int64_t kRecoveryMs = 30 * kMinuteMs;
constexpr std::int64_t kTurnMs = 16'000;  // a request's total deadline, and a little

struct Message {
  std::int64_t id = 0;
  std::string text;
  std::int64_t said_ms = 0;  // steady
  bool poisonous = false;
};

// What survives a crash.
struct World {
  std::vector<Message> source, log;
  std::map<std::string, std::size_t> cursors;               // into source (ingest) or log
  std::map<std::string, std::map<std::int64_t, int>> done;  // worker → message → times
  std::map<std::string, std::set<std::int64_t>> parked;
  // Within the last seconds: nobody can tell an item's failure from the server's then.
  bool weather_turned = false;
  std::string violation;

  void expect(bool condition, const std::string& what) {
    if (!condition && violation.empty()) violation = what;
  }
};

// A worker's hands on the simulated store.
class SimPort {
 public:
  SimPort(World& world, std::string name) : world_(world), name_(std::move(name)) {}
  virtual ~SimPort() = default;
  virtual std::shared_ptr<const Batch> load(const Load& load) = 0;
  virtual void commit(const Commit& commit) = 0;
  void park(const Park& park) {
    const std::int64_t id = batch_->items[park.item].message;
    world_.parked[name_].insert(id);
    const bool poisonous = world_.log[static_cast<std::size_t>(id - 1)].poisonous;
    world_.expect(poisonous || world_.weather_turned,
                  name_ + " parked an innocent message: " + park.reason);
  }
  const std::string& name() const { return name_; }

 protected:
  std::size_t& cursor() { return world_.cursors[name_]; }
  World& world_;
  std::string name_;
  std::shared_ptr<const Batch> batch_;
  std::size_t through_ = 0;
};

// ingest (source → log), projections (log → themselves).
class SimPollPort final : public SimPort {
 public:
  using SimPort::SimPort;
  std::shared_ptr<const Batch> load(const Load&) override {
    const auto& from = name_ == "ingest" ? world_.source : world_.log;
    through_ = std::min(from.size(), cursor() + 100);
    auto batch = std::make_shared<Batch>();
    batch->passed = through_ - cursor();
    return batch;
  }
  void commit(const Commit&) override {
    for (std::size_t i = cursor(); i < through_; ++i) {
      if (name_ == "ingest") world_.log.push_back(world_.source[i]);
      world_.expect(++world_.done[name_][static_cast<std::int64_t>(i)] == 1,
                    name_ + " did the same twice");
    }
    cursor() = through_;
  }
};

class SimModelPort final : public SimPort {
 public:
  using SimPort::SimPort;
  std::shared_ptr<const Batch> load(const Load& load) override {
    auto batch = std::make_shared<Batch>();
    through_ = cursor();
    while (through_ < world_.log.size() && batch->items.size() < load.items_max) {
      const Message& message = world_.log[through_++];
      if (is_done(message)) continue;
      name_ == "embed" ? add_chunks(message, load, *batch) : add_window(message, *batch);
    }
    batch->passed = through_ - cursor();
    batch->pending = static_cast<std::int64_t>(world_.log.size() - through_);
    answered_.clear();
    return batch_ = batch;
  }
  void commit(const Commit& commit) override {
    for (std::size_t i = 0; i < commit.items.size(); ++i) {
      const WorkItem& item = batch_->items[commit.items[i]];
      world_.expect(answered_.insert(commit.items[i]).second, name_ + " answered an item twice");
      if (name_ == "embed") {
        check_vector(item, commit.answer.vectors[i]);
      } else {
        world_.expect(++world_.done[name_][item.message] == 1, name_ + " took a message twice");
      }
    }
    if (!commit.last) return;
    for (std::size_t i = 0; i < batch_->items.size(); ++i) {
      const std::int64_t id = batch_->items[i].message;
      if (answered_.contains(i)) {
        if (name_ == "embed") world_.done[name_][id] = 1;
        continue;
      }
      world_.expect(world_.parked[name_].contains(id), name_ + "'s cursor passed over a message");
    }
    cursor() = through_;
  }

 private:
  bool is_done(const Message& message) {
    return world_.done[name_].contains(message.id) || world_.parked[name_].contains(message.id);
  }
  static void add_chunks(const Message& message, const Load& load, Batch& batch) {
    for (const auto chunk : split_text(message.text, load.text_bytes_max)) {
      WorkItem item;
      item.message = message.id;
      item.text = std::string(chunk);
      batch.items.push_back(std::move(item));
    }
  }
  static void add_window(const Message& message, Batch& batch) {
    WorkItem item;
    item.message = message.id;
    item.window.message = message.id;
    item.window.role = "user";
    item.window.text = message.text;
    item.text = message.text;  // condense reads this
    batch.items.push_back(std::move(item));
  }
  void check_vector(const WorkItem& item, const std::optional<Vector>& vector) {
    const Vector wanted = SimEndpoint::vector_of(item.text);
    bool right = vector && vector->size() == wanted.size();
    for (std::size_t i = 0; right && i < wanted.size(); ++i) {
      right = std::abs((*vector)[i] - wanted[i]) < 1e-4F;
    }
    world_.expect(right, "a text got another text's vector");
  }

  std::set<std::size_t> answered_;
};

struct Worker {
  std::unique_ptr<SimPort> port;
  std::unique_ptr<Machine> machine;
};

struct Due {
  std::int64_t at = 0, order = 0;
  std::size_t worker = 0;
  std::shared_ptr<Input> input;
  bool operator>(const Due& other) const {
    return std::pair(at, order) > std::pair(other.at, other.order);
  }
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : seed_(seed), random_(seed), endpoint_(seed * 31 + 7) {
    if (random_.below(3) == 0) endpoint_.text_bytes_max = 400;
    start();
  }

  // The seed's violation, or nothing.
  std::string run() {
    while (steps_ < kStepsOfRun && world_.violation.empty()) step(true);
    endpoint_.weather = Weather::kGood;
    const std::int64_t end = steady_ + 2 * kRecoveryMs;
    while (steady_ < end && world_.violation.empty()) step(false);
    for (const auto& [name, worker] : workers_by_name()) {
      if (name != "ingest") expect_done(name, worker, world_.log.size());
    }
    world_.expect(world_.log.size() == world_.source.size(), "ingest left something");
    return world_.violation;
  }
  std::int64_t steps() const { return steps_; }
  std::int64_t faults() const { return faults_; }

 private:
  // Otherwise the machine probes first, and believes the first length that it sees.
  bool knows_dims() const { return seed_ % 2 == 0; }
  TimeMs wall() const { return {steady_ + offset_}; }

  void start() {
    EndpointOptions options;
    options.url = "http://model.test/v1";
    options.model = "sim";
    if (knows_dims()) options.dims = SimEndpoint::kDims;
    auto quiet = std::make_shared<QuietBoard>();
    const std::uint64_t life = random_.next();
    workers_.clear();
    queue_ = {};
    for (const char* name : {"ingest", "project.messages", "project.facts", "project.search",
                             "extract", "graph", "condense", "embed"}) {
      Worker worker;
      const std::string_view kind = name;
      MachineOptions machine{life + workers_.size(), 0, "http://model.test", quiet};
      if (kind == "embed") {
        worker.port = std::make_unique<SimModelPort>(world_, name);
        worker.machine = std::make_unique<ModelMachine>(
            std::make_shared<EmbedWork>(std::shared_ptr<Embedder>(make_endpoint_embedder(options))),
            machine);
      } else if (kind == "extract" || kind == "graph" || kind == "condense") {
        worker.port = std::make_unique<SimModelPort>(world_, name);
        worker.machine = std::make_unique<ModelMachine>(window_work(kind, options), machine);
      } else {
        worker.port = std::make_unique<SimPollPort>(world_, name);
        worker.machine = std::make_unique<PollMachine>(machine.seed, 0);
      }
      workers_.push_back(std::move(worker));
      feed_at(steady_, workers_.size() - 1, Started{});
    }
    wishes_.clear();
    quiet_until_ = 0;
  }
  static std::shared_ptr<ModelWork> window_work(std::string_view kind,
                                                const EndpointOptions& options) {
    if (kind == "graph") {
      return std::make_shared<GraphWork>(
          std::shared_ptr<GraphExtractor>(make_endpoint_graph_extractor(options)), "UTC");
    }
    if (kind == "condense") {
      return std::make_shared<CondenseWork>(
          std::shared_ptr<Summarizer>(make_endpoint_summarizer(options)),
          std::make_shared<CondenseJob>());
    }
    return std::make_shared<ExtractWork>(
        std::shared_ptr<Extractor>(make_endpoint_extractor(options)), "UTC", kWindowMessages);
  }
  void feed_at(std::int64_t at, std::size_t worker, Input input) {
    queue_.push({at, ++order_, worker, std::make_shared<Input>(std::move(input))});
  }

  void step(bool rough) {
    const Due due = queue_.top();
    queue_.pop();
    steady_ = std::max(steady_, due.at);
    if (rough) {
      change_weather();
      speak();
      mishap();
      if (crashed_) {
        crashed_ = false;
        return start();
      }
    }
    ++steps_;
    world_.weather_turned = steady_ - weather_since_ < kTurnMs;
    Worker& worker = workers_[due.worker];
    act(due.worker, worker.machine->resume(*due.input, wall()), rough);
    if (crashed_) {
      crashed_ = false;
      start();
    }
  }

  void act(std::size_t i, const Action& action, bool rough) {
    Worker& worker = workers_[i];
    const bool refused = rough && random_.below(400) == 0;
    faults_ += refused;
    const auto busy = [] {
      return make_error(ErrorKind::kRetriable, "sqlite", "busy", "a store that is busy");
    };
    if (const auto* load = std::get_if<Load>(&action)) {
      Loaded loaded{busy()};
      if (!refused) loaded.batch = worker.port->load(*load);
      feed_at(steady_ + 1, i, std::move(loaded));
    } else if (const auto* commit = std::get_if<Commit>(&action)) {
      if (!refused) worker.port->commit(*commit);
      feed_at(steady_ + 2, i, Committed{refused ? Status(busy()) : Status(Ok{})});
      crash_maybe(rough, 200);
    } else if (const auto* park = std::get_if<Park>(&action)) {
      if (!refused) worker.port->park(*park);
      feed_at(steady_ + 2, i, Parked{refused ? Status(busy()) : Status(Ok{})});
      crash_maybe(rough, 50);
    } else if (const auto* call = std::get_if<CallModel>(&action)) {
      ask(i, call->request);
    } else if (const auto* local = std::get_if<RunLocal>(&action)) {
      feed_at(steady_ + 5, i, Computed{local->run()});
    } else if (const auto* nap = std::get_if<Sleep>(&action)) {
      const std::int64_t wait =
          std::clamp<std::int64_t>(nap->until.value - wall().value, 1, kSleepMaxMs);
      feed_at(steady_ + wait, i, Woke{});
    } else {
      world_.expect(false,
                    worker.port->name() + " stopped: " + describe(std::get<Stop>(action).why));
    }
  }

  void ask(std::size_t i, const HttpRequest& request) {
    for (const auto& [heard, until] : wishes_) {
      if (heard <= steady_) quiet_until_ = std::max(quiet_until_, until);
    }
    std::erase_if(wishes_, [&](const auto& wish) { return wish.first <= steady_; });
    world_.expect(steady_ >= quiet_until_, "asked before the time that the server gave");
    Reply reply = endpoint_.answer(request, wall());
    if (endpoint_.weather != Weather::kGood) ++faults_;
    if (reply.quiet_ms > 0) {
      const std::int64_t heard = steady_ + reply.latency_ms;
      wishes_.emplace_back(heard, heard + reply.quiet_ms);
    }
    feed_at(steady_ + reply.latency_ms, i, Answered{std::move(reply.response)});
  }

  void change_weather() {
    if (steady_ < weather_until_) return;
    if (endpoint_.weather == Weather::kGood && steady_ - weather_since_ > kRecoveryMs) {
      for (const auto& [name, worker] : workers_by_name()) {
        if (name != "ingest") expect_done(name, worker, said_before(weather_since_));
      }
    }
    const bool good = random_.below(2) == 0;
    endpoint_.weather =
        good ? Weather::kGood
             : static_cast<Weather>(random_.below(static_cast<std::int64_t>(Weather::kCount)));
    if (endpoint_.weather == Weather::kWrongLength && !knows_dims()) {
      endpoint_.weather = Weather::kHtml;
    }
    weather_since_ = steady_;
    weather_until_ =
        steady_ + 1000 + random_.below(random_.below(4) == 0 ? 2 * kHourMs : kMinuteMs);
  }
  std::size_t said_before(std::int64_t at) const {
    std::size_t count = 0;
    while (count < world_.log.size() && world_.log[count].said_ms < at) ++count;
    return count;
  }
  void expect_done(const std::string& name, const Worker&, std::size_t through) {
    world_.expect(world_.cursors[name] >= through,
                  name + " is idle with old input: " + std::to_string(world_.cursors[name]) +
                      " of " + std::to_string(through));
  }

  void speak() {
    if (steady_ < speaks_at_) return;
    speaks_at_ = steady_ + random_.below(4 * kMinuteMs);
    const auto burst = 1 + random_.below(random_.below(5) == 0 ? 60 : 4);
    for (std::int64_t i = 0; i < burst; ++i) {
      Message message;
      message.id = static_cast<std::int64_t>(world_.source.size() + 1);
      message.text = "message " + std::to_string(message.id) + ". ";
      if (random_.below(10) == 0) message.text += std::string(900, 'w') + ". The end.";
      if (random_.below(150) == 0) message.text += SimEndpoint::kPoison;
      if (random_.below(300) == 0) message.text += SimEndpoint::kStuck;
      message.poisonous = message.text.find(SimEndpoint::kPoison) != std::string::npos ||
                          message.text.find(SimEndpoint::kStuck) != std::string::npos;
      message.said_ms = steady_;
      world_.source.push_back(std::move(message));
    }
  }

  void mishap() {
    if (random_.below(1500) == 0) {  // the wall clock is set
      offset_ += random_.below(4 * kDayMs) - 2 * kDayMs;
      wishes_.clear();
      quiet_until_ = 0;
      weather_since_ = steady_;  // recovery begins anew
      ++faults_;
    }
    crash_maybe(true, 1500);
  }
  void crash_maybe(bool rough, std::int64_t one_in) {
    if (!rough || random_.below(one_in) != 0) return;
    crashed_ = true;
    weather_since_ = steady_;
    ++faults_;
  }

  std::map<std::string, Worker&> workers_by_name() {
    std::map<std::string, Worker&> out;
    for (auto& worker : workers_) out.emplace(worker.port->name(), worker);
    return out;
  }

  std::uint64_t seed_;
  Random random_;
  SimEndpoint endpoint_;
  World world_;
  std::vector<Worker> workers_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> queue_;
  std::int64_t steady_ = 1'000'000, offset_ = 1'795'000'000'000, order_ = 0, steps_ = 0,
               faults_ = 0;
  std::int64_t weather_since_ = 0, weather_until_ = 0, speaks_at_ = 0, quiet_until_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> wishes_;  // heard at, silent until
  bool crashed_ = false;
};

TEST(Simulation, days_of_bad_weather_lose_nothing_and_park_only_poison) {
  const auto only = setting("CLAWMARK_SEED", 0);
  const auto wanted = setting("CLAWMARK_SIM_STEPS", 5'000'000);
  const SystemClock clock;
  const std::int64_t began = clock.steady_ms();
  std::int64_t steps = 0, faults = 0;
  std::string violation;
  for (std::int64_t seed = only > 0 ? only : 1; steps < wanted && violation.empty(); ++seed) {
    Simulation simulation(static_cast<std::uint64_t>(seed));
    violation = simulation.run();
    if (!violation.empty()) violation = "CLAWMARK_SEED=" + std::to_string(seed) + ": " + violation;
    steps += simulation.steps();
    faults += simulation.faults();
    if (only > 0) break;
  }
  const std::int64_t took = std::max<std::int64_t>(1, clock.steady_ms() - began);
  report({"simulation", steps, faults, violation.empty() ? 0 : 1,
          std::to_string(steps * 1000 / took) + " steps/s"});
  EXPECT_EQ(violation, "");
}

}  // namespace
}  // namespace clawmark::reliability
