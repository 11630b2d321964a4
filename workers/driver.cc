#include "workers/driver.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "base/limits.h"
#include "base/logging.h"

namespace clawmark {
namespace {

namespace asio = boost::asio;

constexpr std::int64_t kSleepMaxMs = 60'000;  // a wall clock that jumps must not make us oversleep
constexpr std::int64_t kNoteEveryMs = 10'000;
// Events that a projection may be behind before ingest reads on: what is said now waits for no more
// than these to be folded, however long the history is that is being read.
constexpr std::int64_t kAheadMax = 1'000;

using WorkGuard = asio::executor_work_guard<asio::io_context::executor_type>;

struct Slot {
  WorkerLoop* loop = nullptr;
  std::unique_ptr<asio::steady_timer> timer;
  bool busy = false;  // a step is posted, or a call is out
  bool sleeping = false;
  bool woken = false;  // while busy: look again before sleeping
  std::int64_t noted_ms = 0;
  std::string noted_state;
};

struct Drain {
  std::function<void(DrainReport)> done;
};

}  // namespace

struct Driver::State {
  State(Store& s, const Clock& c) : store(s), clock(c) {}

  Store& store;
  const Clock& clock;
  std::vector<Slot> slots;
  asio::io_context writer_io{1};
  asio::io_context net_io{1};
  std::optional<WorkGuard> writer_guard, net_guard;
  std::unique_ptr<asio::thread_pool> compute;
  std::unique_ptr<Transport> transport;
  std::thread writer_thread, net_thread;
  std::atomic<bool> running{false}, stopping{false};
  std::atomic<std::int64_t> beat{0};

  std::mutex mutex;  // commands, shown
  std::deque<std::function<void(Store&)>> commands;
  std::vector<WorkerStatus> shown;
  std::vector<std::int64_t> shown_beat;
  std::vector<Drain> drains;  // writer's thread only
  std::int64_t drain_commits = -1;

  void step(std::size_t i);
  bool is_ahead(const Slot& slot) const;
  void advance(std::size_t i);
  void call_model(std::size_t i, const CallModel& call);
  void run_local(std::size_t i, const RunLocal& local);
  void sleep(std::size_t i, const Sleep& sleep);
  void wake_all();
  void wake_idle(std::size_t but);
  void run_commands();
  void show(std::size_t i);
  void note(std::size_t i);
  void check_drains();
  std::vector<WorkerLoop*> loops() const;
};

Driver::Driver(Store& store, const Clock& clock, std::vector<WorkerLoop*> loops)
    : state_(std::make_unique<State>(store, clock)) {
  for (WorkerLoop* loop : loops) {
    Slot slot;
    slot.loop = loop;
    slot.timer = std::make_unique<asio::steady_timer>(state_->writer_io);
    state_->slots.push_back(std::move(slot));
  }
  state_->shown.resize(loops.size());
  state_->shown_beat.assign(loops.size(), clock.steady_ms());
  for (std::size_t i = 0; i < loops.size(); ++i) state_->shown[i].name = loops[i]->name();
}

Driver::~Driver() {
  stop();
}

bool Driver::running() const {
  return state_->running;
}

void Driver::start(const TransportOptions& transport) {
  State& s = *state_;
  if (s.running.exchange(true)) return;
  s.beat = s.clock.steady_ms();
  s.writer_guard.emplace(asio::make_work_guard(s.writer_io));
  s.net_guard.emplace(asio::make_work_guard(s.net_io));
  s.compute = std::make_unique<asio::thread_pool>(1);
  s.transport = make_transport(s.net_io, transport);
  s.net_thread = std::thread([&s] { s.net_io.run(); });
  for (std::size_t i = 0; i < s.slots.size(); ++i) {
    s.slots[i].busy = true;
    s.slots[i].loop->port().share();
    asio::post(s.writer_io, [&s, i] {
      s.slots[i].loop->feed(Started{});
      s.advance(i);
    });
  }
  s.writer_thread = std::thread([&s] { s.writer_io.run(); });
}

void Driver::stop() {
  State& s = *state_;
  if (!s.running || s.stopping.exchange(true)) return;
  // The transport's calls end with "cancelled" on the network thread; their outcome is not fed any
  // more.
  asio::post(s.net_io, [&s] { s.transport->cancel_all(); });
  asio::post(s.writer_io, [&s] {
    s.run_commands();
    for (Slot& slot : s.slots) slot.timer->cancel();
    for (auto& drain : s.drains) {
      auto report = remaining_work(s.loops(), s.clock.now());
      drain.done(report.ok() ? std::move(report).value() : DrainReport{});
    }
    s.drains.clear();
    s.writer_guard.reset();  // here only: the guard is this thread's
  });
  s.compute->join();
  if (s.writer_thread.joinable()) s.writer_thread.join();
  s.net_guard.reset();
  s.net_io.stop();
  if (s.net_thread.joinable()) s.net_thread.join();
  s.transport.reset();
  s.running = false;
}

void Driver::post(std::function<void(Store&)> work) {
  State& s = *state_;
  {
    const std::lock_guard lock(s.mutex);
    s.commands.push_back(std::move(work));
  }
  asio::post(s.writer_io, [&s] { s.run_commands(); });
}

void Driver::wake() {
  State& s = *state_;
  asio::post(s.writer_io, [&s] { s.wake_all(); });
}

void Driver::drain(bool unripe, std::function<void(DrainReport)> done) {
  State& s = *state_;
  asio::post(s.writer_io, [&s, unripe, done = std::move(done)]() mutable {
    Drain drain;
    drain.done = std::move(done);
    s.drains.push_back(std::move(drain));
    s.drain_commits = -1;
    if (unripe) {
      for (Slot& slot : s.slots) slot.loop->port().drain(true);
    }
    s.wake_all();
  });
}

std::vector<WorkerStatus> Driver::status() const {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  auto out = s.shown;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].beat_age_ms = s.clock.steady_ms() - s.shown_beat[i];
  }
  return out;
}

std::int64_t Driver::beat_age_ms() const {
  return state_->clock.steady_ms() - state_->beat;
}

// --- On the writer's thread ----------------------------------------------------------------------

std::vector<WorkerLoop*> Driver::State::loops() const {
  std::vector<WorkerLoop*> out;
  for (const Slot& slot : slots) out.push_back(slot.loop);
  return out;
}

void Driver::State::run_commands() {
  beat = clock.steady_ms();
  for (;;) {
    std::function<void(Store&)> work;
    {
      const std::lock_guard lock(mutex);
      if (commands.empty()) return;
      work = std::move(commands.front());
      commands.pop_front();
    }
    work(store);
  }
}

void Driver::State::step(std::size_t i) {
  run_commands();
  if (stopping) return;
  if (is_ahead(slots[i])) {  // the steps of those behind it stand in the queue before this one
    asio::post(writer_io, [this, i] { step(i); });
    beat = clock.steady_ms();
    return;
  }
  const std::int64_t before = slots[i].loop->commits();
  if (slots[i].loop->is_storework()) slots[i].loop->do_storework();
  if (slots[i].loop->commits() != before) wake_idle(i);
  advance(i);
}

// Ingest, while a projection that is at work has not come near. One that waits or has stopped holds
// nobody up.
bool Driver::State::is_ahead(const Slot& slot) const {
  if (slot.loop->name() != "ingest" || !std::holds_alternative<Load>(slot.loop->action())) {
    return false;
  }
  return std::any_of(slots.begin(), slots.end(), [](const Slot& other) {
    return other.busy && other.loop->is_storework() && other.loop->name().starts_with("project.") &&
           other.loop->machine().condition().pending > kAheadMax;
  });
}

// Something was written: who rests may have work now.
void Driver::State::wake_idle(std::size_t but) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (i == but || !slot.sleeping || !slot.loop->is_idle()) continue;
    slot.sleeping = false;
    slot.busy = true;
    slot.timer->cancel();
    slot.loop->feed(Woke{});
    asio::post(writer_io, [this, i] { advance(i); });
  }
}

// Sees to the action at hand.
void Driver::State::advance(std::size_t i) {
  beat = clock.steady_ms();
  show(i);
  if (stopping) return;
  Slot& slot = slots[i];
  const Action& action = slot.loop->action();
  if (slot.loop->is_storework()) {
    asio::post(writer_io, [this, i] { step(i); });
  } else if (const auto* call = std::get_if<CallModel>(&action)) {
    call_model(i, *call);
  } else if (const auto* local = std::get_if<RunLocal>(&action)) {
    run_local(i, *local);
  } else if (const auto* nap = std::get_if<Sleep>(&action)) {
    sleep(i, *nap);
  } else {
    slot.busy = false;
    note(i);
    log_error("workers", slot.loop->name() + " " + slot.loop->machine().condition().failure);
    check_drains();
  }
}

void Driver::State::call_model(std::size_t i, const CallModel& call) {
  // Named first: the transport may end the call on its own thread at any time.
  auto done = [this, i, call](Result<HttpResponse> response) {
    auto shared = std::make_shared<Result<HttpResponse>>(std::move(response));
    asio::post(writer_io, [this, i, call, shared] {
      if (stopping) return;
      const bool answered = shared->ok() && (*shared)->status == 200;
      if (auto noted = slots[i].loop->port().called(call, answered, clock.now()); !noted.ok()) {
        log_warning("workers", describe(noted.error()));
      }
      slots[i].loop->feed(Answered{std::move(*shared)});
      advance(i);
    });
  };
  asio::post(net_io, [this, request = call.request, done = std::move(done)]() mutable {
    transport->send(std::move(request), std::move(done));
  });
}

void Driver::State::run_local(std::size_t i, const RunLocal& local) {
  asio::post(*compute, [this, i, run = local.run] {
    auto answer = std::make_shared<Result<SpanAnswer>>(run());
    asio::post(writer_io, [this, i, answer] {
      if (stopping) return;
      slots[i].loop->feed(Computed{std::move(*answer)});
      advance(i);
    });
  });
}

void Driver::State::sleep(std::size_t i, const Sleep& nap) {
  Slot& slot = slots[i];
  slot.busy = false;
  if (slot.woken) {
    slot.woken = false;
    slot.busy = true;
    slot.loop->feed(Woke{});
    asio::post(writer_io, [this, i] { advance(i); });
    return;
  }
  slot.sleeping = true;
  const std::int64_t wait =
      std::clamp<std::int64_t>(nap.until.value - clock.now().value, 1, kSleepMaxMs);
  slot.timer->expires_after(std::chrono::milliseconds(wait));
  slot.timer->async_wait([this, i](boost::system::error_code error) {
    Slot& woken = slots[i];
    if (error || stopping || !woken.sleeping) return;
    woken.sleeping = false;
    woken.busy = true;
    woken.loop->feed(Woke{});
    advance(i);
  });
  note(i);
  check_drains();
}

void Driver::State::wake_all() {
  run_commands();
  if (stopping) return;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (!slot.sleeping) {
      slot.woken = true;
      continue;
    }
    slot.sleeping = false;
    slot.busy = true;
    slot.timer->cancel();
    slot.loop->feed(Woke{});
    asio::post(writer_io, [this, i] { advance(i); });
  }
}

// A drain is over when every worker has come to rest and a further round changed nothing.
void Driver::State::check_drains() {
  if (drains.empty() || stopping) return;
  std::int64_t commits = 0;
  for (const Slot& slot : slots) {
    if (slot.busy) return;
    commits += slot.loop->commits();
  }
  if (commits != drain_commits) {
    drain_commits = commits;
    asio::post(writer_io, [this] { wake_all(); });
    return;
  }
  for (Slot& slot : slots) slot.loop->port().drain(false);
  auto report = remaining_work(loops(), clock.now());
  for (auto& drain : drains) drain.done(report.ok() ? *report : DrainReport{});
  drains.clear();
}

void Driver::State::show(std::size_t i) {
  WorkerLoop& loop = *slots[i].loop;
  const std::lock_guard lock(mutex);
  WorkerStatus& row = shown[i];
  const auto id = loop.port().id();
  row.name = id.name;
  row.generation = id.generation;
  row.condition = loop.condition();
  const std::int64_t now = clock.steady_ms();
  const std::int64_t took = now - shown_beat[i];
  if (row.condition.pending < row.pending && took > 0) {
    const double rate = static_cast<double>(row.pending - row.condition.pending) * 1000.0 /
                        static_cast<double>(took);
    row.per_second = row.per_second == 0 ? rate : 0.9 * row.per_second + 0.1 * rate;
  }
  row.pending = row.condition.pending;
  row.commits = loop.commits();
  shown_beat[i] = now;
}

// Keeps the condition in table cursors, for status without the daemon.
void Driver::State::note(std::size_t i) {
  Slot& slot = slots[i];
  const Condition& is = slot.loop->machine().condition();
  const std::int64_t now = clock.steady_ms();
  if (slot.noted_state == is.state + is.failure && now - slot.noted_ms < kNoteEveryMs) return;
  slot.noted_state = is.state + is.failure;
  slot.noted_ms = now;
  CursorState row;
  row.state = is.state;
  row.failure = is.failure;
  row.attempts = is.attempts;
  row.retry_at = is.retry_at;
  row.beat_at = clock.now();
  const auto id = slot.loop->port().id();
  if (id.generation <= 0) return;
  if (auto cursor = load_cursor(store.db(), id); cursor.ok()) {
    const std::lock_guard lock(mutex);
    shown[i].position = cursor->position;
  }
  if (auto noted = note_cursor(store.db(), id, row); !noted.ok()) {
    log_warning("workers", describe(noted.error()));
  }
}

}  // namespace clawmark
