#pragma once
// What is there to be read, without writing anything anywhere: every carrier that the configuration
// names, each message counted once.

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"
#include "workers/estimate.h"

namespace clawmark {

struct SurveyedCarrier {
  std::string carrier, path;
  std::string state;    // as in `status`: "ok", "absent", "broken", …
  std::string message;  // of a carrier that cannot be read: what and the remedy
  std::int64_t streams = 0, messages = 0, bytes = 0;  // as this carrier shows them
};

struct Survey {
  std::vector<SurveyedCarrier> carriers;
  std::int64_t messages = 0, bytes = 0;  // each message once
  std::int64_t said = 0;                 // of them what a person or the agent said
  TimeMs oldest, newest;                 // 0: no message
  BacklogEstimate cost;                  // of reading all of it, by the configured models
};

// Reads everything once.
Survey survey_sources(const Config& config, const Clock& clock);

json::object to_json(const Survey& survey);

}  // namespace clawmark
