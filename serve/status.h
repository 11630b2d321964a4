#pragma once
// GET /v1/status, /healthz and /metrics: how memory is doing, in counts and reasons. No text of
// anybody.

#include <string>
#include <vector>

#include "serve/health.h"
#include "serve/serving.h"

namespace clawmark {

// What is to be told now, red first. Remembers, for the next time, since when it has held.
std::vector<Warning> warnings(Serving& serving);

// "ok", "warning" or "red".
std::string_view health_word(const std::vector<Warning>& warnings);

json::object status_json(Serving& serving);
// Reads the gauges anew, then prints all.
std::string metrics_text(Serving& serving);

}  // namespace clawmark
