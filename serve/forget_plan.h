#pragma once
// What a request to forget would take away, for a caller behind its walls: looked at before
// anything is done, and done exactly so.

#include <string>
#include <vector>

#include "projections/forgetting.h"
#include "serve/tools.h"

namespace clawmark {

struct ForgetRequest {
  std::string key, query, session_id, person;
  std::vector<Seq> messages;
  // Exactly one of them is given. Error: invalid, says what is missing.
  static Result<ForgetRequest> parse(const json::object& params, const ToolCallContext& context);
  // Takes more than one named thing away: a model has to show it to a person first.
  bool is_broad() const { return !query.empty() || !session_id.empty() || !person.empty(); }
};

struct ForgetPlan {
  std::vector<Fact> facts;           // forgotten as such
  std::vector<Fact> losing;          // lose their evidence with the messages
  std::vector<MessageRow> messages;  // gone for good, with the answers to them
  std::vector<MessageRow> sources;   // of the facts: shown and read no more
  std::string session_id, person;    // also what of them is read later
  std::int64_t copies = 0;           // other messages that say exactly the same
  std::vector<std::string> degraded;
  std::string refused;  // not empty: why the caller may not
  bool empty() const {
    return facts.empty() && messages.empty() && session_id.empty() && person.empty();
  }
  std::string confirm_code() const;  // of exactly this plan
};

bool is_owner_sight(const Sight& sight);

Result<ForgetPlan> plan_forgetting(const ToolCallContext& context, const ForgetRequest& request);
// In the order in which they are to be appended.
Result<std::vector<NewEvent>> forget_events(const ToolCallContext& context, const ForgetPlan& plan);

}  // namespace clawmark
