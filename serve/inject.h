#pragma once
// POST /v1/inject: what should the agent know now? Bounded in time and in characters; what had to
// be left out for either is said, and never a reason to fail.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "projections/as_of.h"
#include "serve/block.h"
#include "serve/serving.h"

namespace clawmark {

constexpr std::int64_t kInjectMs = 150;  // then the answer goes out with what is there

struct InjectRequest {
  std::string prompt, session_id;
  RequestWindow window;
  std::size_t budget_chars = 0;
};

struct InjectAnswer {
  Block facts, recall;
  std::vector<RecallItem> items;
  std::string query, skipped;
  std::string refusal;  // why the caller sees nothing of its own (caller.h), else empty
  std::vector<std::string> degraded;
  double elapsed_ms = 0;
};

// Facts that a caller's prompts carry: live, sure enough, one per key (a person's own word before
// what was concluded, the newer before the older), in the order of the block. `unsure`: also those
// below the threshold; `at`: as they stood then.
Result<std::vector<Fact>> facts_in_sight(Database& db, const Sight& sight, const Config& config,
                                         TimeMs now, bool unsure = false,
                                         const std::optional<AsOf>& at = std::nullopt);

InjectAnswer inject(Serving& serving, Database& db, const Sight& sight,
                    const InjectRequest& request);

InjectRequest parse_inject(const json::object& body, const Config& config);
json::object to_json(const InjectAnswer& answer);

}  // namespace clawmark
