#include "serve/query_desk.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <thread>

#include "base/limits_history.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::int64_t kOverheadTokens = 40;  // of roles and the like around a prompt
constexpr std::int64_t kRetryWaitMs = 1'000;  // where the server names no time
constexpr std::int64_t kRetryWaitMaxMs = 5'000;
constexpr std::int64_t kGraceMs = 2'000;  // for the transport to notice its own deadline
constexpr std::size_t kTurnsMax = 10'000;
constexpr double kMicro = 1e6;

Error no_question(std::string_view reason, std::string message) {
  return make_error(ErrorKind::kInvalid, "ask", std::string(reason), std::move(message));
}

std::string usd(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f USD", value);
  return text;
}

std::string variable(const std::map<std::string, std::string>& environment, std::string_view name) {
  const auto found = environment.find(std::string(name));
  return found == environment.end() ? std::string() : std::string(trim(found->second));
}

constexpr std::array<Provider, 4> kWithKeys = {Provider::kAnthropic, Provider::kOpenai,
                                               Provider::kGoogle, Provider::kOpenrouter};

// Asked again: the server is busy, or was not reached. Never what may have cost something: money
// is held for one question, and a connection that closed may have closed on a paid answer.
bool is_worth_retry(const Error& error) {
  return error.kind == ErrorKind::kRetriable &&
         (error.reason == "http_429" || error.reason == "http_500" || error.reason == "http_502" ||
          error.reason == "http_503" || error.reason == "http_529" || error.reason == "connect");
}

// Whether what was asked may have been worked on, and charged, though no answer came.
bool may_have_cost(const Error& error) {
  return error.reason == "timeout" || error.reason == "closed" || error.reason == "too_big" ||
         error.reason == "bad_answer" || error.reason == "empty" || error.reason == "refused";
}

// Why a question is reckoned so dear, and what the operator does about it.
std::string unknown_price(const std::string& priced) {
  const std::string model = priced.substr(priced.rfind('|') + 1);
  return " (the price of " + std::string(prefix_code_points(model, 80)) +
         " is not known, so a dear one is reckoned: ~/.config/clawmark/prices.json gives it)";
}

// A server that heeds no limit is not believed to have said anything worth so many characters.
void cap_text(Reply& reply) {
  const auto kept = prefix_code_points(reply.text, kHistoryAnswerMax - kHistoryNotesMax);
  if (kept.size() == reply.text.size()) return;
  reply.text.resize(kept.size());
  reply.cut = true;
}

}  // namespace

bool is_over_budget(const Error& error) {
  return error.stage == "ask" && (error.reason == "over_query" || error.reason == "over_turn" ||
                                  error.reason == "over_day");
}

QuerySettings query_settings(const Config& config,
                             const std::map<std::string, std::string>& environment) {
  QuerySettings out;
  if (const auto named = provider_named(config.rc_provider)) {
    out.ask.provider = *named;
  } else if (!config.rc_url.empty()) {
    out.ask.provider = Provider::kCompatible;
  } else {
    for (const Provider provider : kWithKeys) {
      if (variable(environment, provider_key_variable(provider)).empty()) continue;
      out.ask.provider = provider;
      break;
    }
  }
  const Provider provider = out.ask.provider;
  out.ask.url = config.rc_url;
  out.ask.model = config.rc_model.empty() ? std::string(provider_model(provider)) : config.rc_model;
  out.ask.api_key = config.rc_api_key.empty()
                        ? variable(environment, provider_key_variable(provider))
                        : config.rc_api_key;
  out.ask.timeout_ms = config.rc_query_timeout_ms;
  out.query_usd_max = config.rc_budget_per_query;
  out.turn_usd_max = config.rc_budget_per_turn;
  out.concurrent_max = config.rc_max_concurrent;
  out.daily_tokens_max = config.daily_tokens_max;
  out.daily_usd_max = config.daily_usd_max;
  if (provider == Provider::kCompatible && out.ask.url.empty()) {
    out.problem = "rc_provider compatible needs rc_url (RC_URL)";
  } else if (out.ask.model.empty()) {
    out.problem = "rc_model (RC_MODEL) is not set, and this provider has no default";
  } else if (provider != Provider::kCompatible && out.ask.api_key.empty()) {
    out.problem = "there is no key: set " + std::string(provider_key_variable(provider)) +
                  " (or RC_PROVIDER and RC_API_KEY) for the memory service";
  }
  return out;
}

struct QueryDesk::Slots {
  explicit Slots(int count) : free(count) {}
  std::mutex mutex;
  std::condition_variable changed;
  int free;
};

QueryDesk::QueryDesk(QuerySettings settings, Transport& transport, WriterPort& writer,
                     const Clock& clock)
    : settings_(std::move(settings)),
      transport_(transport),
      writer_(writer),
      clock_(clock),
      slots_(std::make_unique<Slots>(settings_.concurrent_max)) {}
QueryDesk::~QueryDesk() = default;

void QueryDesk::begin_turn(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  if (turns_.size() >= kTurnsMax) turns_.clear();  // budgets in the store stay as they are
  turns_[owner] = clock_.now().value;
}

void QueryDesk::begin_turn_by_clock(const std::string& owner, std::int64_t window_ms) {
  const std::lock_guard lock(mutex_);
  if (turns_.size() >= kTurnsMax) turns_.clear();
  const std::int64_t now = clock_.now().value;
  turns_[owner] = now - now % std::max<std::int64_t>(window_ms, 1);
}

std::int64_t QueryDesk::turn_of(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  const auto found = turns_.find(owner);
  return found == turns_.end() ? 0 : found->second;
}

std::int64_t QueryDesk::prompt_tokens_max(std::string_view model) const {
  const std::string_view name = model.empty() ? std::string_view(settings_.ask.model) : model;
  return std::max<std::int64_t>(
      0, context_tokens(name) - settings_.ask.answer_tokens_max - kOverheadTokens);
}

Result<HttpResponse> QueryDesk::send(const HttpRequest& request) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<HttpResponse>> answer;
  };
  auto waiting = std::make_shared<Waiting>();  // outlives this call when the answer comes too late
  transport_.send(request, [waiting](Result<HttpResponse> response) {
    const std::lock_guard lock(waiting->mutex);
    waiting->answer.emplace(std::move(response));
    waiting->changed.notify_all();
  });
  std::unique_lock lock(waiting->mutex);
  const auto wait = std::chrono::milliseconds(request.timeout_ms + kGraceMs);
  if (!waiting->changed.wait_for(lock, wait, [&] { return waiting->answer.has_value(); })) {
    return make_error(ErrorKind::kRetriable, "transport", "timeout", "the endpoint did not answer");
  }
  return *std::move(waiting->answer);
}

Result<AskAnswer> QueryDesk::send_with_retry(const AskOptions& options, const AskPrompt& prompt) {
  const HttpRequest request = plan_ask(options, prompt);
  auto answer = interpret_ask(options, send(request));
  if (answer.ok() || !is_worth_retry(answer.error())) return answer;
  const std::int64_t wait = answer.error().retry_after_ms.value_or(kRetryWaitMs);
  if (wait > kRetryWaitMaxMs) return answer;
  std::unique_lock lock(slots_->mutex);
  slots_->changed.wait_for(lock, std::chrono::milliseconds(wait), [] { return false; });
  lock.unlock();
  return interpret_ask(options, send(request));
}

// What the question may cost at most is held for it. Error: is_over_budget.
Result<json::object> QueryDesk::reserve(const Question& question, const std::string& priced,
                                        std::int64_t input_tokens) {
  const double cap = question.usd_max > 0 ? std::min(question.usd_max, settings_.query_usd_max)
                                          : settings_.query_usd_max;
  CLAWMARK_ASSIGN(json::object reserved,
                  writer_.run("query_reserve", {{"owner", question.owner},
                                                {"turn_ms", turn_of(question.owner)},
                                                {"model", priced},
                                                {"input_tokens", input_tokens},
                                                {"output_tokens", settings_.ask.answer_tokens_max},
                                                {"query_cap_micro_usd", std::llround(cap * kMicro)},
                                                {"turn_cap_micro_usd",
                                                 std::llround(settings_.turn_usd_max * kMicro)},
                                                {"daily_tokens_max", settings_.daily_tokens_max},
                                                {"daily_usd_max", settings_.daily_usd_max}}));
  if (get_bool(reserved, "ok")) return reserved;
  const std::string could = "the question could cost " +
                            usd(static_cast<double>(get_int(reserved, "micro_usd")) / kMicro) +
                            ", and ";
  const std::string dear = get_bool(reserved, "price_known", true) ? "" : unknown_price(priced);
  const std::string why = get_string(reserved, "why");
  if (why == "query") {
    return no_question("over_query", could + "one question may cost " + usd(cap) + dear);
  }
  if (why == "day") {
    return no_question("over_day", could +
                                       "too little is left of the day's cap (daily_usd_max, "
                                       "daily_tokens_max); it is whole again at midnight UTC" +
                                       dear);
  }
  const double left = static_cast<double>(get_int(reserved, "left_micro_usd")) / kMicro;
  return no_question("over_turn", could + "of this turn's budget " + usd(left) + " is left" + dear);
}

Result<Reply> QueryDesk::ask(const Question& question) {
  if (!settings_.problem.empty()) return no_question("no_model", settings_.problem);
  AskOptions options = settings_.ask;
  if (!question.model.empty()) options.model = question.model;
  // Where a model of one's own is asked is part of what it costs (prices.h).
  const std::string priced =
      options.provider == Provider::kCompatible ? options.url + "|" + options.model : options.model;
  const std::int64_t input = estimate_tokens(question.prompt.system) +
                             estimate_tokens(question.prompt.user) + kOverheadTokens;
  CLAWMARK_ASSIGN(const json::object reserved, reserve(question, priced, input));
  {
    std::unique_lock lock(slots_->mutex);
    slots_->changed.wait(lock, [&] { return slots_->free > 0; });
    --slots_->free;
  }
  const auto answer = send_with_retry(options, question.prompt);
  {
    const std::lock_guard lock(slots_->mutex);
    ++slots_->free;
    slots_->changed.notify_all();
  }
  Reply reply;
  reply.model = options.model;
  json::object settle{{"owner", question.owner},
                      {"turn_ms", get_int(reserved, "turn_ms")},
                      {"reserved_micro_usd", get_int(reserved, "micro_usd")},
                      {"reserved_ms", get_int(reserved, "reserved_ms")},
                      {"reserved_input_tokens", input},
                      {"reserved_output_tokens", options.answer_tokens_max},
                      {"model", priced}};
  if (answer.ok()) {
    reply.text = answer->text;
    reply.cut = answer->cut;
    cap_text(reply);
    reply.usage = answer->usage;
    // A server that says nothing is believed to have used what was estimated.
    if (reply.usage.input_tokens <= 0) reply.usage.input_tokens = input;
    if (reply.usage.output_tokens <= 0) reply.usage.output_tokens = estimate_tokens(answer->text);
    if (answer->cost_usd) settle["micro_usd"] = std::llround(*answer->cost_usd * kMicro);
  } else if (may_have_cost(answer.error())) {
    reply.usage = {input, 0};
  } else {
    settle["micro_usd"] = 0;
  }
  settle["input_tokens"] = reply.usage.input_tokens;
  settle["output_tokens"] = reply.usage.output_tokens;
  CLAWMARK_ASSIGN(const json::object settled, writer_.run("query_settle", settle));
  if (!answer.ok()) return answer.error();
  reply.micro_usd = get_int(settled, "micro_usd");
  return reply;
}

std::vector<Result<Reply>> QueryDesk::ask_all(std::span<const Question> questions) {
  std::vector<std::optional<Result<Reply>>> answers(questions.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < questions.size(); i = next++) {
      answers[i].emplace(ask(questions[i]));
    }
  };
  const auto helpers =
      std::min(questions.size(), static_cast<std::size_t>(settings_.concurrent_max));
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<Result<Reply>> out;
  for (auto& answer : answers) out.push_back(*std::move(answer));
  return out;
}

}  // namespace clawmark
