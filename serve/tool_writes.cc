#include "serve/tool_writes.h"

#include <algorithm>
#include <cmath>

#include "base/secrets.h"
#include "base/utf8.h"
#include "models/fact_key.h"
#include "projections/facts.h"
#include "projections/overview.h"
#include "serve/quote.h"

namespace clawmark {

ToolAnswer refusal(std::string text, json::object details) {
  return {false, std::move(text), std::move(details)};
}

ToolAnswer bad_request(std::string text, json::object details) {
  details["invalid"] = true;
  return refusal(std::move(text), std::move(details));
}

namespace {

// The text of a rule's refusal.
std::string reason_of(const Status& status) {
  return status.error().message;
}

// Where a statement goes: to wherever the same person already has this key (an owner has two
// names), else home.
std::vector<std::pair<std::string, std::string>> targets(const Sight& sight, std::string_view key,
                                                         const std::vector<Fact>& known) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Fact& fact : known) {
    const bool own = fact.holder.starts_with("person:") && sight.home.starts_with("person:");
    if (own && std::find(sight.writable.begin(), sight.writable.end(), fact.holder) !=
                   sight.writable.end()) {
      out.emplace_back(fact.holder, fact.subject);
    }
  }
  if (out.empty()) out.emplace_back(sight.home, fact_subject(key, sight.home, sight.subject));
  return out;
}

std::string days_text(std::int64_t days) {
  return std::to_string(days) + (days == 1 ? " day" : " days");
}

}  // namespace

NewEvent fact_event(const ToolCallContext& context, const char* type, std::string_view prefix,
                    json::object payload) {
  NewEvent event;
  event.type = type;
  event.scope = context.sight.scope;
  event.dedupe_key = std::string(prefix) + context.serving.new_id();
  event.occurred = context.serving.clock.now();
  event.payload = std::move(payload);
  return event;
}

Status submit(const ToolCallContext& context, std::vector<NewEvent> events) {
  if (context.serving.writer == nullptr) {
    return make_error(ErrorKind::kRetriable, "writer", "absent",
                      "the memory service is not running; start it to change memory");
  }
  return context.serving.writer->submit(std::move(events));
}

Result<std::vector<Fact>> changeable(const ToolCallContext& context, std::string_view key) {
  const Sight& sight = context.sight;
  if (sight.writable.empty()) return std::vector<Fact>{};
  CLAWMARK_ASSIGN(auto facts, read_facts(context.db, sight.scope.agent, sight.writable,
                                         context.serving.clock.now()));
  std::erase_if(facts, [&](const Fact& fact) { return fact.key != key; });
  return facts;
}

ToolAnswer closed_answer(const Sight& sight) {
  switch (sight.refusal) {
    case Refusal::kLane:
      return refusal("Memory is closed in this kind of session (" +
                     std::string(to_string(sight.scope.lane)) +
                     "). The operator can open it with the setting inject_sessions.");
    case Refusal::kIncognito:
      return refusal("Memory is off in incognito sessions.");
    case Refusal::kNone:
      return {true, "Nothing has been read yet that could be shown here.", {}};
    default:
      return refusal("It is not known who is asking (" + std::string(to_string(sight.refusal)) +
                     "), so nobody's memory can be opened or changed here.");
  }
}

Result<ToolAnswer> tool_set(const ToolCallContext& context, const json::object& params) {
  const std::string key(trim(get_string(params, "key")));
  const std::string given = get_string(params, "value");
  if (key_holds_secret(key)) {  // not repeated in the answer either
    return refusal(
        "Not remembered: there is a secret in the key. Secrets are never kept; use a "
        "password manager.");
  }
  if (const Status rule = check_fact_key(key); !rule.ok()) {
    return bad_request("Not remembered: " + reason_of(rule), {{"key", key}});
  }
  if (const Status rule = check_fact_value(given); !rule.ok()) {
    return bad_request("Not remembered: " + reason_of(rule), {{"key", key}});
  }
  if (context.sight.home.empty()) return closed_answer(context.sight);
  if (names_secret(key)) {
    return refusal("Not remembered: " + key +
                       " names a secret. Secrets are never kept; use a "
                       "password manager.",
                   {{"key", key}});
  }
  std::size_t secrets = 0;
  const std::string value = redact_secrets(to_valid_utf8(given), secrets);
  if (const std::string rule = screen_for_injection(value); !rule.empty() && context.by == "tool") {
    return refusal("Not remembered: the value reads like an order to the model (" + rule +
                       "). State it as a fact, or set it by hand: clawmark set.",
                   {{"key", key}});
  }
  CLAWMARK_ASSIGN(const auto known, changeable(context, key));
  std::vector<NewEvent> events;
  const auto where = targets(context.sight, key, known);
  for (const auto& [holder, subject] : where) {
    json::object payload{{"key", key},         {"value", value},   {"holder", holder},
                         {"subject", subject}, {"source", "user"}, {"confidence", 1.0},
                         {"by", context.by}};
    events.push_back(fact_event(context, event_type::kFactStated, "stated:", std::move(payload)));
  }
  const bool update = std::any_of(known.begin(), known.end(), [&](const Fact& fact) {
    return std::find(where.begin(), where.end(), std::pair(fact.holder, fact.subject)) !=
           where.end();
  });
  CLAWMARK_TRY(submit(context, std::move(events)));
  // Acknowledged is what stands: the fold has the last word.
  CLAWMARK_ASSIGN(const auto now_there,
                  find_fact(context.db, context.sight.scope.agent, where.front().first,
                            where.front().second, key, context.serving.clock.now()));
  if (!now_there || now_there->value != value) {
    return refusal("Recorded, but it does not stand: a rule of the facts refused " + key + ".",
                   {{"key", key}});
  }
  const char* action = update ? "update" : "create";
  std::string text = "Remembered " + key + " (" + action + ").";
  if (secrets > 0) text += " A secret in the value was left out: secrets are never kept.";
  return ToolAnswer{true, std::move(text), {{"action", action}, {"key", key}}};
}

namespace {

// Files and archives that cannot be read to their ends, by name.
Result<json::array> unread_json(Database& db) {
  constexpr std::size_t kTold = 20;
  CLAWMARK_ASSIGN(const auto rows, read_stopped(db, kTold));
  json::array out;
  for (const SkippedRow& row : rows) {
    out.push_back(json::object{{"file", row.file}, {"reason", row.reason}});
  }
  return out;
}

}  // namespace

Result<ToolAnswer> tool_reconcile(const ToolCallContext& context, const json::object& params) {
  const Refusal why = context.sight.refusal;
  if (why == Refusal::kIncognito) return closed_answer(context.sight);
  if (context.serving.writer == nullptr) {
    return refusal("The memory service is not running; nothing is read in the background.");
  }
  CLAWMARK_ASSIGN(
      const ReconcileAnswer state,
      context.serving.writer->reconcile(get_bool(params, "drain", true), kReconcileWaitMs));
  const Remaining& left = state.remaining;
  json::object details{{"done", state.done},
                       {"remaining", json::object{{"ingest", left.ingest},
                                                  {"embed", left.embed},
                                                  {"extract", left.extract},
                                                  {"graph", left.graph}}},
                       {"stuck", state.stuck}};
  json::array blocked;
  std::string held_up;
  for (const BlockedStage& stage : state.blocked) {
    blocked.push_back(json::object{{"worker", stage.worker}, {"why", stage.why}});
    held_up += " " + stage.worker + " is held up (" + stage.why + ").";
  }
  details["blocked"] = std::move(blocked);
  CLAWMARK_ASSIGN(json::array unread, unread_json(context.db));
  std::string but;
  if (!unread.empty()) {
    but =
        " Some of the history cannot be read: a file is damaged or closed to the service; "
        "clawmark doctor names it.";
  }
  details["unread"] = std::move(unread);
  if (state.done) {
    return ToolAnswer{true,
                      std::string("Memory is up to date: all history") +
                          (but.empty() ? "" : " that can be read") +
                          " is read, indexed and looked through." + but,
                      std::move(details)};
  }
  return ToolAnswer{true,
                    "Working on it in the background. Remaining: " + std::to_string(left.ingest) +
                        " to read, " + std::to_string(left.embed) + " to index, " +
                        std::to_string(left.extract) + " to look through for facts." + held_up +
                        but,
                    std::move(details)};
}

Result<ToolAnswer> tool_review(const ToolCallContext& context, const json::object& params) {
  const auto days = std::clamp<std::int64_t>(get_int(params, "days", 90), 0, 36'500);
  if (context.sight.holders.empty()) return closed_answer(context.sight);
  const TimeMs now = context.serving.clock.now();
  CLAWMARK_ASSIGN(const auto stale,
                  stale_facts(context.db, context.sight.scope.agent, context.sight.holders,
                              static_cast<int>(days), now));
  json::array facts;
  std::string text;
  for (const Fact& fact : stale) {
    const std::int64_t age = (now.value - fact.last_observed.value) / kDayMs;
    const double sure = std::round(fact.effective_confidence * 1000) / 1000;
    facts.push_back(json::object{{"key", fact.key},
                                 {"value", fact.value},
                                 {"days_since_reinforced", age},
                                 {"effective_confidence", sure}});
    char percent[16];
    std::snprintf(percent, sizeof(percent), "%.0f%%", sure * 100);
    text += "- " + fact.key + ": " + quote_inline(fact.value) + " (not heard for " +
            days_text(age) + ", " + percent + " sure)\n";
  }
  if (facts.empty()) {
    text = "No fact has gone unconfirmed for " + days_text(days) + ".";
  } else {
    text = "Concluded, and not heard again for " + days_text(days) +
           " or more. Keep with clawmark_set, drop with clawmark_forget:\n" + text;
  }
  return ToolAnswer{true, std::move(text), {{"facts", std::move(facts)}}};
}

}  // namespace clawmark
