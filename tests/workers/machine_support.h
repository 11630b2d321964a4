#pragma once
// A model and a store that a test plays for one machine.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workers/model_machine.h"

namespace clawmark {

constexpr TimeMs kStart{1'795'000'000'000};

// A model that is played by the test: each request is answered by `answer`.
class PlayedWork final : public ModelWork {
 public:
  bool is_local() const override { return false; }
  bool needs_probe() const override { return probe_needed; }
  std::size_t items_per_load() const override { return 100; }
  std::size_t items_per_request() const override { return per_request; }
  std::size_t text_bytes_max() const override { return text_max; }
  HttpRequest plan(std::span<const WorkItem> items) const override {
    asked.clear();
    for (const auto& item : items) asked.push_back(item.message);
    HttpRequest request;
    request.body = std::string(40 * items.size(), 'x');
    return request;
  }
  Result<SpanAnswer> interpret(const Result<HttpResponse>& response,
                               std::span<const WorkItem> items) override {
    if (!response.ok()) return response.error();
    return answer(items);
  }
  Result<SpanAnswer> run_local(std::span<const WorkItem> items) override { return answer(items); }
  std::vector<WorkItem> canary() const override { return {WorkItem{-1, "hello", {}, {}}}; }

  std::function<Result<SpanAnswer>(std::span<const WorkItem>)> answer;
  mutable std::vector<std::int64_t> asked;
  std::size_t per_request = 16;
  std::size_t text_max = 1600;
  bool probe_needed = false;
};

inline SpanAnswer vectors(std::size_t count) {
  SpanAnswer out;
  for (std::size_t i = 0; i < count; ++i) out.vectors.emplace_back(Vector{1.0F, 0.0F});
  return out;
}

inline std::shared_ptr<const Batch> batch_of(std::size_t count, std::size_t text_bytes = 10) {
  auto batch = std::make_shared<Batch>();
  for (std::size_t i = 1; i <= count; ++i) {
    batch->items.push_back(
        WorkItem{static_cast<std::int64_t>(i), std::string(text_bytes, 'a'), {}, {}});
  }
  batch->passed = count;
  return batch;
}

inline HttpResponse http(int status) {
  HttpResponse response;
  response.status = status;
  return response;
}

// Plays the store and the endpoint for one machine until the batch is done.
struct Play {
  explicit Play(std::shared_ptr<PlayedWork> w, MachineOptions options = {})
      : work(std::move(w)), machine(work, std::move(options)) {}

  // `respond` answers each call, by what was asked (also of the canary: {-1}).
  void run(std::shared_ptr<const Batch> batch,
           std::function<Result<HttpResponse>(const std::vector<std::int64_t>&)> respond,
           int calls_max = 200) {
    Action action = machine.resume(Started{}, now);
    bool given = false;
    while (calls < calls_max) {
      if (std::holds_alternative<Load>(action)) {
        ++loads;
        if (given && (committed_last || !reload)) return;
        auto next = given ? reload(std::get<Load>(action)) : batch;
        given = true;
        action = machine.resume(Loaded{next}, now);
        current = next;
      } else if (std::holds_alternative<CallModel>(action)) {
        ++calls;
        call_times.push_back(now);
        action = machine.resume(Answered{respond(work->asked)}, now);
      } else if (const auto* commit = std::get_if<Commit>(&action)) {
        for (const auto i : commit->items) done.push_back(current->items[i].message);
        committed_last = commit->last;
        action = machine.resume(Committed{Ok{}}, now);
      } else if (const auto* park = std::get_if<Park>(&action)) {
        parked.push_back({current->items[park->item].message, park->reason, park->attempts});
        action = machine.resume(Parked{Ok{}}, now);
      } else if (const auto* sleep = std::get_if<Sleep>(&action)) {
        sleeps.push_back(sleep->until.value - now.value);
        if (sleep->until > now) now = sleep->until;
        if (until_time && now > *until_time) return;
        action = machine.resume(Woke{}, now);
      } else {
        stopped = true;
        return;
      }
    }
  }

  struct ParkedItem {
    std::int64_t message;
    std::string reason;
    int attempts;
  };
  std::shared_ptr<PlayedWork> work;
  ModelMachine machine;
  TimeMs now = kStart;
  std::shared_ptr<const Batch> current;
  std::function<std::shared_ptr<const Batch>(const Load&)> reload;
  std::optional<TimeMs> until_time;
  std::vector<std::int64_t> done;
  std::vector<ParkedItem> parked;
  std::vector<std::int64_t> sleeps;
  std::vector<TimeMs> call_times;
  int calls = 0, loads = 0;
  bool stopped = false, committed_last = false;
};

inline std::shared_ptr<PlayedWork> good_work() {
  auto work = std::make_shared<PlayedWork>();
  work->answer = [](std::span<const WorkItem> items) { return vectors(items.size()); };
  return work;
}

inline bool holds(std::span<const WorkItem> items, std::int64_t message) {
  return std::any_of(items.begin(), items.end(),
                     [&](const WorkItem& item) { return item.message == message; });
}

inline bool holds(const std::vector<std::int64_t>& asked, std::int64_t message) {
  return std::find(asked.begin(), asked.end(), message) != asked.end();
}

}  // namespace clawmark
