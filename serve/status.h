#pragma once
// GET /v1/status, /healthz and /metrics: how memory is doing, in counts and reasons. No text of
// anybody.

#include <string>
#include <vector>

#include "serve/serving.h"

namespace clawmark {

// One thing that is wrong: `code` from a bounded list, what and the remedy. Red: memory does not
// work as promised.
struct Warning {
  std::string code, message;
  bool red = false;
};
std::vector<Warning> warnings(Serving& serving);

json::object status_json(Serving& serving);
// Reads the gauges anew, then prints all.
std::string metrics_text(Serving& serving);

}  // namespace clawmark
