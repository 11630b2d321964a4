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

HttpAnswer answer_patiently(Serving& serving, const HttpCall& call) {
  HttpAnswer answer = answer_call(serving, call);
  const bool may_repeat = call.target == "/v1/admin/search" || call.target == "/v1/admin/inject";
  for (int tried = 1; may_repeat && tried < kTries && came_short(answer); ++tried) {
    answer = answer_call(serving, call);
  }
  return answer;
}

}  // namespace clawmark
