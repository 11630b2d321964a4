#include "models/usage.h"

namespace clawmark {
namespace {

constexpr std::int64_t kBytesPerTokenMax = 64;  // long runs of blanks; a word has four or five
constexpr std::int64_t kTokensPerByteMax = 2;   // a token per byte, and what a template adds
constexpr std::int64_t kQuestionTokensMax = 4'000'000;

}  // namespace

std::int64_t plausible_tokens(std::int64_t said, std::size_t bytes, std::int64_t unseen_max) {
  const auto size = static_cast<std::int64_t>(bytes);
  const bool is_plausible =
      said > 0 && said >= size / kBytesPerTokenMax && said <= size * kTokensPerByteMax + unseen_max;
  return is_plausible ? said : 0;
}

std::int64_t plausible_question_tokens(std::int64_t said) {
  return plausible_tokens(said, 0, kQuestionTokensMax);
}

Usage usage_of(const json::object& body, std::size_t question_bytes, std::size_t answer_bytes) {
  Usage usage;
  const json::object* counts = find_object(body, "usage");
  if (counts == nullptr) return usage;
  const std::int64_t asked = get_int(*counts, "prompt_tokens");
  usage.input_tokens = question_bytes == 0
                           ? plausible_question_tokens(asked)
                           : plausible_tokens(asked, question_bytes, kUnseenQuestionMax);
  usage.output_tokens =
      plausible_tokens(get_int(*counts, "completion_tokens"), answer_bytes, kUnseenAnswerMax);
  return usage;
}

}  // namespace clawmark
