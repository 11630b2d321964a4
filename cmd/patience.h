#pragma once
// A prompt may not wait, a person at a shell may: an answer that came short because files were
// opened for the first time is asked for again.

#include <functional>

#include "base/result.h"
#include "serve/api.h"

namespace clawmark {

HttpAnswer answer_patiently(Serving& serving, const HttpCall& call);
// The same of any that answers.
Result<HttpAnswer> ask_patiently(const HttpCall& call,
                                 const std::function<Result<HttpAnswer>(const HttpCall&)>& ask);

}  // namespace clawmark
