#include "serve/admin.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "log/event_log.h"
#include "projections/facts.h"
#include "projections/facts_at.h"
#include "projections/overview.h"
#include "serve/admin_console.h"
#include "serve/inject.h"
#include "serve/sharing.h"
#include "serve/tool_world.h"
#include "serve/tools.h"

namespace clawmark {
namespace {

constexpr std::int64_t kListMax = 1000;

struct AdminCall {
  Serving& serving;
  Database& db;
  const json::object& params;
};

Result<std::string> agent_of(Database& db, const json::object& params) {
  std::string agent = get_string(params, "agent");
  if (!agent.empty()) return agent;
  CLAWMARK_ASSIGN(const auto agents, list_agents(db));
  const bool has_main = std::find(agents.begin(), agents.end(), "main") != agents.end();
  return agents.empty() || has_main ? std::string("main") : agents.front();
}

// `run(context)`: a tool, asked by a person.
template <class Run>
Result<json::object> for_person(const AdminCall& call, const Run& run) {
  CLAWMARK_ASSIGN(const Sight sight, operator_sight(call.db, call.params));
  const ToolCallContext context{call.serving, call.db, sight, {}, "cli", false};
  CLAWMARK_ASSIGN(ToolAnswer answer, run(context));
  return json::object{
      {"ok", answer.ok}, {"text", std::move(answer.text)}, {"details", std::move(answer.details)}};
}

// All live facts in sight, also those below the threshold and those that another hides.
Result<json::object> admin_facts(const AdminCall& call) {
  CLAWMARK_ASSIGN(const Sight sight, operator_sight(call.db, call.params));
  const auto config = call.serving.config();
  CLAWMARK_ASSIGN(const auto at, parse_as_of(call.db, call.params));
  const TimeMs now = call.serving.clock.now();
  CLAWMARK_ASSIGN(const auto facts,
                  at ? facts_at(call.db, sight.scope.agent, sight.holders, *at)
                     : read_facts(call.db, sight.scope.agent, sight.holders, now));
  json::array list;
  for (const Fact& fact : facts) {
    const bool injected =
        fact.source == "user" || fact.effective_confidence >= config->confidence_threshold;
    list.push_back(
        json::object{{"key", fact.key},
                     {"value", fact.value},
                     {"source", fact.source},
                     {"holder", fact.holder},
                     {"subject", fact.subject},
                     {"confidence", fact.confidence},
                     {"effective_confidence", fact.effective_confidence},
                     {"observations", fact.observations},
                     {"date", format_date(fact.last_observed, config->timezone)},
                     {"days_since_reinforced", (now.value - fact.last_observed.value) / kDayMs},
                     {"message", fact.message},
                     {"injected", injected}});
  }
  return json::object{
      {"agent", sight.scope.agent}, {"facts", std::move(list)}, {"notes", facts_note(call.db)}};
}

// What a prompt would get: of a caller as the plugin sends it, else of `as`, else of the owner.
Result<json::object> admin_inject(const AdminCall& call) {
  Sight sight;
  const auto config = call.serving.config();
  InjectRequest request = parse_inject(call.params, *config);
  if (const auto* caller = find_object(call.params, "caller")) {
    const Caller parsed = parse_caller(*caller);
    sight = configured_sight(parsed, *config, call.db);
    request.session_id = parsed.session_id;
  } else {
    CLAWMARK_ASSIGN(const std::string agent, agent_of(call.db, call.params));
    std::string as = get_string(call.params, "as");
    if (as.empty()) as = "owner";
    CLAWMARK_ASSIGN(sight, sight_as(agent, as));
  }
  if (find_object(call.params, "window") == nullptr) request.window = {true, 0, {}};
  json::object answer = to_json(inject(call.serving, call.db, sight, request));
  answer["threshold"] = config->recall_threshold;
  return answer;
}

Result<json::object> admin_events(const AdminCall& call) {
  const std::int64_t limit =
      std::clamp<std::int64_t>(get_int(call.params, "limit", 50), 1, kListMax);
  CLAWMARK_ASSIGN(const Seq head, EventLog::head(call.db));
  // Without a place to start: the newest.
  const Seq after{get_optional_int(call.params, "after")
                      .value_or(std::max<std::int64_t>(0, head.value - limit))};
  const std::string type = get_string(call.params, "type");
  const std::string_view types[] = {type};
  CLAWMARK_ASSIGN(const auto events,
                  EventLog::read(call.db, after, static_cast<std::size_t>(limit),
                                 type.empty() ? std::span<const std::string_view>{}
                                              : std::span<const std::string_view>(types)));
  json::array list;
  for (const Event& event : events) {
    list.push_back(json::object{{"seq", event.seq.value},
                                {"type", event.type},
                                {"version", event.version},
                                {"agent", event.scope.agent},
                                {"session_key", event.scope.session_key},
                                {"lane", to_string(event.scope.lane)},
                                {"sender", event.scope.sender},
                                {"occurred_at", format_iso(event.occurred)},
                                {"recorded_at", format_iso(event.recorded)},
                                {"redacted", event.redacted},
                                {"payload", event.payload}});
  }
  return json::object{{"head", head.value}, {"events", std::move(list)}};
}

Result<json::object> admin_parked_list(const AdminCall& call) {
  CLAWMARK_ASSIGN(const auto parked, read_parked(call.db, kListMax));
  json::array list;
  for (const ParkedRow& row : parked) {
    list.push_back(json::object{{"event", row.event.value},
                                {"worker", row.worker},
                                {"generation", row.generation},
                                {"message", row.message.value},
                                {"reason", row.reason},
                                {"detail", row.detail},
                                {"attempts", row.attempts},
                                {"parked_at", format_iso(row.parked)},
                                {"retry", row.retry}});
  }
  return json::object{{"parked", std::move(list)}};
}

Result<json::object> by_writer(const AdminCall& call, std::string_view command) {
  if (call.serving.writer == nullptr) {
    return make_error(ErrorKind::kRetriable, "writer", "absent",
                      "the memory service is not running; start it first");
  }
  return call.serving.writer->run(command, call.params);
}

Result<json::object> admin_parked_retry(const AdminCall& call) {
  return by_writer(call, "parked_retry");
}
Result<json::object> admin_rebuild(const AdminCall& call) {
  return by_writer(call, "rebuild");
}
Result<json::object> admin_estimate(const AdminCall& call) {
  return by_writer(call, "estimate");
}
Result<json::object> admin_verify(const AdminCall& call) {
  return by_writer(call, "verify");
}

struct Command {
  std::string_view name;
  Result<json::object> (*run)(const AdminCall&);
};
constexpr std::array<Command, 8> kCommands = {{{"facts", admin_facts},
                                               {"inject", admin_inject},
                                               {"events", admin_events},
                                               {"parked_list", admin_parked_list},
                                               {"parked_retry", admin_parked_retry},
                                               {"rebuild", admin_rebuild},
                                               {"estimate", admin_estimate},
                                               {"verify", admin_verify}}};

// Those that are one of the agent's tools, asked by a person.
struct AsTool {
  std::string_view name, tool;
};
constexpr std::array<AsTool, 15> kAsTools = {{{"set", "clawmark_set"},
                                              {"forget", "clawmark_forget"},
                                              {"search", "clawmark_search"},
                                              {"review", "clawmark_review"},
                                              {"reconcile", "clawmark_reconcile"},
                                              {"restore", "wc_restore"},
                                              {"graph", "wc_graph"},
                                              {"episodes", "wc_episode"},
                                              {"expand", "wc_expand"},
                                              {"files", "wc_file"},
                                              {"wc_search", "wc_search"},
                                              {"rc_peek", "rc_peek"},
                                              {"rc_grep", "rc_grep"},
                                              {"rc_slice", "rc_slice"},
                                              {"rc_timeline", "rc_timeline"}}};

// Those that only a person has.
struct ForPeople {
  std::string_view name;
  Result<ToolAnswer> (*run)(const ToolCallContext&, const json::object&);
};
constexpr std::array<ForPeople, 3> kForPeople = {{{"explain", tool_world_explain},
                                                  {"dissolve", tool_world_dissolve},
                                                  {"unmerge", tool_world_unmerge}}};

// A direct chat or group as its own prompts would see it: the person that its key names, else
// `speaker` ("telegram:101", "101").
Sight sight_in_session(Database& db, const std::string& agent, const std::string& session_key,
                       std::string_view speaker) {
  const SessionKey key = parse_session_key(session_key);
  Caller caller;
  caller.agent = agent;
  caller.session_key = session_key;
  caller.channel = key.channel;
  caller.trigger = "user";
  if (speaker.starts_with("person:")) speaker.remove_prefix(7);
  caller.sender_is_owner = speaker == "owner";
  if (const auto colon = speaker.rfind(':'); colon != std::string_view::npos) {
    speaker.remove_prefix(colon + 1);
  }
  caller.sender_id = caller.sender_is_owner ? "" : std::string(speaker);
  const bool names_peer = key.lane == Lane::kDirect && !key.channel.empty();
  if (caller.sender_id.empty() && names_peer) {
    caller.sender_id = key.peer.substr(0, key.peer.find(":thread:"));
  }
  return sight_of(caller, {}, db);
}

}  // namespace

Result<Sight> operator_sight(Database& db, const json::object& params) {
  CLAWMARK_ASSIGN(const std::string agent, agent_of(db, params));
  const std::string as = get_string(params, "as");
  if (const std::string in = get_string(params, "session_key"); !in.empty() && !as.empty()) {
    Sight sight = sight_in_session(db, agent, in, as);
    if (!sight.open()) {
      return make_error(ErrorKind::kInvalid, "caller", "bad_as",
                        "nobody called " + as + " speaks in that session (" +
                            std::string(to_string(sight.refusal)) +
                            "): leave out --as, or --session-key");
    }
    return sight;
  }
  if (as.starts_with("agent:") && parse_session_key(as).lane == Lane::kDirect) {
    // As the host's prompt there would see it, owners included.
    if (Sight sight = sight_in_session(db, agent, as, {}); sight.open()) return sight;
  }
  if (!as.empty() && as != "all") return sight_as(agent, as);
  CLAWMARK_ASSIGN(Sight sight, sight_as(agent, "owner"));
  CLAWMARK_ASSIGN(sight.holders, list_holders(db, agent));
  CLAWMARK_ASSIGN(sight.audiences, list_audiences(db, agent));
  for (const std::string& holder : {sight.home, std::string("agent")}) {
    if (std::find(sight.holders.begin(), sight.holders.end(), holder) == sight.holders.end()) {
      sight.holders.push_back(holder);
    }
  }
  sight.writable = sight.holders;
  return sight;
}

Result<json::object> run_admin(Serving& serving, Database& db, std::string_view command,
                               const json::object& params) {
  const AdminCall call{serving, db, params};
  for (const Command& known : kCommands) {
    if (known.name == command) return known.run(call);
  }
  for (const AsTool& known : kAsTools) {
    if (known.name != command) continue;
    return for_person(call, [&](const ToolCallContext& context) {
      return call_tool(context, known.tool, params);
    });
  }
  for (const ForPeople& known : kForPeople) {
    if (known.name != command) continue;
    return for_person(call,
                      [&](const ToolCallContext& context) { return known.run(context, params); });
  }
  if (auto looked = run_console(serving, db, command, params)) return *std::move(looked);
  return make_error(ErrorKind::kNotFound, "api", "unknown_command", "there is no such command");
}

}  // namespace clawmark
