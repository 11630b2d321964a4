#include "cmd/patience.h"

#include "base/json.h"

namespace clawmark {
namespace {

constexpr int kTries = 5;

// "degraded" of an answer, wherever the interface puts it.
bool came_short(const HttpAnswer& answer) {
  const auto parsed = parse_json(answer.body);
  const auto* object = parsed.ok() ? parsed->if_object() : nullptr;
  if (object == nullptr) return false;
  const auto* details = find_object(*object, "details");
  const auto* degraded = find_array(details == nullptr ? *object : *details, "degraded");
  return degraded != nullptr && !degraded->empty();
}

}  // namespace

Result<HttpAnswer> ask_patiently(const HttpCall& call,
                                 const std::function<Result<HttpAnswer>(const HttpCall&)>& ask) {
  CLAWMARK_ASSIGN(HttpAnswer answer, ask(call));
  const bool may_repeat = call.target == "/v1/admin/search" || call.target == "/v1/admin/inject";
  for (int tried = 1; may_repeat && tried < kTries && came_short(answer); ++tried) {
    CLAWMARK_ASSIGN(answer, ask(call));
  }
  return answer;
}

HttpAnswer answer_patiently(Serving& serving, const HttpCall& call) {
  return ask_patiently(call,
                       [&](const HttpCall& again) -> Result<HttpAnswer> {
                         return answer_call(serving, again);
                       })
      .value();
}

}  // namespace clawmark
