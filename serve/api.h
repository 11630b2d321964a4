#pragma once
// docs/api.md: from an HTTP call to an answer.

#include <string_view>

#include "serve/http_server.h"
#include "serve/serving.h"

namespace clawmark {

// Safe from several threads. Never throws; every error is an answer with a code from a bounded
// list.
HttpAnswer answer_call(Serving& serving, const HttpCall& call);

// Calls that may take seconds: they get threads of their own, so that no prompt waits behind them.
bool is_slow_target(std::string_view target);

}  // namespace clawmark
