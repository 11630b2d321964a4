#pragma once
// What a server says that a call took, as far as it can be true.

#include <cstddef>
#include <cstdint>

#include "base/json.h"
#include "models/model.h"

namespace clawmark {

// Counts that the bytes do not bear out (negative, far fewer or far more tokens than such a text
// has) are 0, as if nothing were said, so that whoever counts keeps an estimate. `unseen_max`:
// tokens that stand in no text that we see (thinking, a server's own words before the question).
std::int64_t plausible_tokens(std::int64_t said, std::size_t bytes, std::int64_t unseen_max);
constexpr std::int64_t kUnseenQuestionMax = 16'384;
constexpr std::int64_t kUnseenAnswerMax = 131'072;

// For a question whose bytes are not known: no more than the largest models take.
std::int64_t plausible_question_tokens(std::int64_t said);

// "usage" of an answer of OpenAI's kind. `question_bytes` 0: not known.
Usage usage_of(const json::object& body, std::size_t question_bytes, std::size_t answer_bytes);

}  // namespace clawmark
