#pragma once
// Where questions to a language model are asked on a caller's behalf: never more at a time, and
// never dearer, than allowed. What a question may cost is reserved before it is asked and settled
// by what it did cost; both are in the store, so that neither two at once nor a restart spend
// twice.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "base/result.h"
#include "models/ask.h"
#include "models/transport.h"
#include "serve/writer_port.h"

namespace clawmark {

struct QuerySettings {
  AskOptions ask;
  double query_usd_max = 0.05, turn_usd_max = 0.10;
  std::int64_t daily_tokens_max = 0;  // of all that asks models; 0: no cap
  double daily_usd_max = 0;
  int concurrent_max = 4;
  std::string problem;  // not empty: no question can be asked, and why
};
// From the rc_* keys. Without rc_provider the first provider that has a key in `environment`.
QuerySettings query_settings(const Config& config,
                             const std::map<std::string, std::string>& environment);

struct Question {
  std::string owner;  // whose budget: conversation and caller (serve/tool_repl.h)
  AskPrompt prompt;
  std::string model;   // empty: the setting's
  double usd_max = 0;  // of this question; 0: the setting's, which it never exceeds
};
struct Reply {
  std::string text, model;  // the text: at most what one answer may hold
  Usage usage;
  std::int64_t micro_usd = 0;
  bool cut = false;  // the text, at a limit of the model's or ours
};

bool is_over_budget(const Error& error);

class QueryDesk {
 public:
  // All must outlive it.
  QueryDesk(QuerySettings settings, Transport& transport, WriterPort& writer, const Clock& clock);
  ~QueryDesk();

  const QuerySettings& settings() const { return settings_; }
  // The caller's next turn begins: its budget is whole again.
  void begin_turn(const std::string& owner);
  // For a caller without turns: one lasts `window_ms`, and begins at a multiple of it, so that
  // neither more calls nor a restart begin another.
  void begin_turn_by_clock(const std::string& owner, std::int64_t window_ms);
  // How large a prompt the model takes beside its answer.
  std::int64_t prompt_tokens_max(std::string_view model) const;

  // Blocks. Errors: invalid, stage "ask", "no_model" (settings), "over_query", "over_turn" or
  // "over_day" (the budget; nothing was asked: is_over_budget); else those of interpret_ask and the
  // transport, after one retry where that makes sense.
  Result<Reply> ask(const Question& question);
  // Beside each other, as far as allowed; one result per question, in order.
  std::vector<Result<Reply>> ask_all(std::span<const Question> questions);

 private:
  struct Slots;
  Result<json::object> reserve(const Question& question, const std::string& priced,
                               std::int64_t input_tokens);
  Result<HttpResponse> send(const HttpRequest& request);
  Result<AskAnswer> send_with_retry(const AskOptions& options, const AskPrompt& prompt);
  std::int64_t turn_of(const std::string& owner);

  const QuerySettings settings_;
  Transport& transport_;
  WriterPort& writer_;
  const Clock& clock_;
  std::unique_ptr<Slots> slots_;
  std::mutex mutex_;
  std::map<std::string, std::int64_t> turns_;  // owner → when its turn began
};

}  // namespace clawmark
