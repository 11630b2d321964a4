#include "workers/paid_port.h"

#include <algorithm>
#include <utility>

#include "models/chat.h"

namespace clawmark {

Result<std::optional<TimeMs>> PaidPort::spent_until(TimeMs now) {
  return budget_until(store_.db(), limits_, now);
}

Result<Allowance> PaidPort::reserve(const CallModel& call, TimeMs now) {
  model_ = paid_model();
  question_bytes_ = call.request.body.size();
  const Spent most{1, call.input_tokens, call.request.answer_tokens_max, 0};
  CLAWMARK_ASSIGN(const Allowance allowance,
                  allowance_for(store_.db(), limits_, model_, most, now));
  if (allowance.until) return allowance;
  CLAWMARK_TRY(add_spend(store_.db(), id().name, model_, most, now));
  reserved_ = most;
  reserved_at_ = now;
  return allowance;
}

// To what the call took; the call itself stays counted.
Status PaidPort::correct(std::int64_t input_tokens, std::int64_t output_tokens) {
  const Spent held = std::exchange(reserved_, Spent{});
  const Spent more{0, input_tokens - held.input_tokens, output_tokens - held.output_tokens, 0};
  if (held.calls == 0 || (more.input_tokens == 0 && more.output_tokens == 0)) return Ok{};
  return add_spend(store_.db(), id().name, model_, more, reserved_at_);
}

Status PaidPort::called(const CallModel&, bool answered, TimeMs) {
  return answered ? Status(Ok{}) : correct(0, 0);
}

Status PaidPort::settle(const HttpResponse& response) {
  if (reserved_.output_tokens == 0) return Ok{};  // vectors: the question is all there is
  const auto parsed = parse_json(response.body);
  Usage said;
  if (parsed.ok() && parsed->is_object()) {
    said = chat_usage(parsed->get_object(), question_bytes_);
  }
  // Of an answer that says nothing usable about itself: by its length.
  const auto by_length = static_cast<std::int64_t>(response.body.size() / 4);
  return correct(
      said.input_tokens > 0 ? said.input_tokens : reserved_.input_tokens,
      said.output_tokens > 0 ? said.output_tokens : std::min(by_length, reserved_.output_tokens));
}

}  // namespace clawmark
