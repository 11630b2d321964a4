#include "serve/admin_console.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/read_snapshot.h"
#include "projections/console.h"
#include "projections/overview.h"
#include "projections/summaries.h"
#include "projections/why.h"
#include "serve/admin.h"
#include "serve/tool_world.h"

namespace clawmark {
namespace {

constexpr std::int64_t kConversationsMax = 1'000;
constexpr std::int64_t kSummariesMax = 2'000;
constexpr std::int64_t kNodesMax = 500;
constexpr std::size_t kEdgesPerNode = 8;
constexpr std::size_t kTrail = 50;
constexpr std::int64_t kSpendDaysMax = 366;

struct ConsoleCall {
  Serving& serving;
  Database& db;
  const json::object& params;
};

std::size_t limit_of(const json::object& params, std::int64_t usual, std::int64_t max) {
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(get_int(params, "limit", usual), 1, max));
}

json::array texts(const std::vector<std::string>& list) {
  return json::array(list.begin(), list.end());
}

std::string summary_id(std::int64_t event) {
  return "sum_" + std::to_string(event);
}

Result<json::object> conversations(const ConsoleCall& call) {
  CLAWMARK_ASSIGN(const Sight sight, operator_sight(call.db, call.params));
  CLAWMARK_ASSIGN(const auto rows,
                  list_conversations(call.db, sight.scope.agent, sight.audiences,
                                     limit_of(call.params, 200, kConversationsMax)));
  json::array list;
  for (const ConversationRow& row : rows) {
    list.push_back(json::object{{"session_id", row.session_id},
                                {"session_key", row.session_key},
                                {"lane", row.lane},
                                {"messages", row.messages},
                                {"first_at", format_iso(row.first)},
                                {"last_at", format_iso(row.last)},
                                {"speakers", texts(row.speakers)}});
  }
  return json::object{{"agent", sight.scope.agent},
                      {"zone", call.serving.config()->timezone},
                      {"conversations", std::move(list)}};
}

// Each with the ids of those below it; `top`: no other covers it.
Result<json::object> summaries(const ConsoleCall& call) {
  CLAWMARK_ASSIGN(const Sight sight, operator_sight(call.db, call.params));
  const ReadSnapshot snapshot(call.db);
  const GraphScope scope = scope_of(sight, call.serving.clock.now());
  std::vector<SummaryRow> all;
  for (const std::string& holder : scope.holders) {
    CLAWMARK_ASSIGN(auto some, read_summaries(call.db, scope.agent, holder));
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(), [](const SummaryRow& a, const SummaryRow& b) {
    return a.said != b.said ? a.said > b.said : a.event > b.event;
  });
  const std::size_t total = all.size();
  all.resize(std::min(total, limit_of(call.params, 500, kSummariesMax)));
  std::set<std::int64_t> top;
  for (const SummaryRow& row : top_summaries(all)) top.insert(row.event);
  json::array list;
  for (const SummaryRow& row : all) {
    json::array sources;
    for (const std::int64_t source : row.sources) sources.emplace_back(summary_id(source));
    list.push_back(json::object{{"id", summary_id(row.event)},
                                {"depth", row.depth},
                                {"top", top.contains(row.event)},
                                {"holder", row.holder},
                                {"session_id", row.session_id},
                                {"text", row.text},
                                {"method", row.method},
                                {"said_at", format_iso(row.said)},
                                {"sources", std::move(sources)}});
  }
  return json::object{{"total", static_cast<std::int64_t>(total)}, {"summaries", std::move(list)}};
}

json::object edge_json(const GraphEdgeRow& edge) {
  return {{"type", edge.type},
          {"from_type", edge.from_type},
          {"from", edge.from},
          {"to_type", edge.to_type},
          {"to", edge.to},
          {"since", format_iso(edge.from_time)},
          {"confidence", edge.confidence},
          {"message", edge.message},
          {"quote", edge.quote}};
}

// Things and the relations between those that are listed.
Result<json::object> world(const ConsoleCall& call) {
  CLAWMARK_ASSIGN(const Sight sight, operator_sight(call.db, call.params));
  const ReadSnapshot snapshot(call.db);
  GraphScope scope = scope_of(sight, call.serving.clock.now());
  scope.half_life_days = call.serving.config()->decay_half_life_days;
  NodeQuery query;
  query.type = get_string(call.params, "nodeType");
  query.limit = limit_of(call.params, 200, kNodesMax);
  CLAWMARK_ASSIGN(const auto rows, list_nodes(call.db, scope, query));
  CLAWMARK_ASSIGN(const auto relations, list_edges(call.db, scope, query.limit * kEdgesPerNode));
  std::set<std::pair<std::string, std::string>> known;
  json::array nodes, edges;
  for (const GraphNodeRow& row : rows) {
    known.emplace(row.type, row.key);
    nodes.push_back(node_json(row));
  }
  for (const GraphEdgeRow& edge : relations) {
    if (known.contains({edge.from_type, edge.from}) && known.contains({edge.to_type, edge.to})) {
      edges.push_back(edge_json(edge));
    }
  }
  return json::object{{"nodes", std::move(nodes)},
                      {"edges", std::move(edges)},
                      {"cut", rows.size() == query.limit}};
}

json::object value_json(const FactValueRow& row) {
  json::object out{{"holder", row.holder},  {"subject", row.subject},
                   {"value", row.value},    {"source", row.source},
                   {"quote", row.quote},    {"valid_from", format_iso(row.from)},
                   {"message", row.message}};
  if (row.to) out["valid_to"] = format_iso(*row.to);
  return out;
}

json::object change_json(const ChangeRow& row) {
  return {{"id", row.id},
          {"event", row.event},
          {"type", row.type},
          {"key", row.key},
          {"old_value", row.old_value},
          {"new_value", row.new_value},
          {"source", row.source},
          {"holder", row.holder},
          {"at", format_iso(row.at)},
          {"recorded_at", format_iso(row.recorded)}};
}

Result<json::array> changes_of(const ConsoleCall& call, const Sight& sight,
                               const ChangeQuery& query) {
  const bool all = get_string(call.params, "as").empty();
  CLAWMARK_ASSIGN(const auto rows,
                  list_changes(call.db, sight.scope.agent, sight.holders, all, query));
  json::array list;
  for (const ChangeRow& row : rows) list.push_back(change_json(row));
  return list;
}

// One key: every value it had with its evidence, what was observed, what was decided about it.
Result<json::object> fact(const ConsoleCall& call) {
  const std::string key = get_string(call.params, "key");
  if (key.empty())
    return make_error(ErrorKind::kInvalid, "api", "key", "say which: key is missing");
  CLAWMARK_ASSIGN(const Sight sight, operator_sight(call.db, call.params));
  const ReadSnapshot snapshot(call.db);
  CLAWMARK_ASSIGN(const auto rows, fact_values(call.db, sight.scope.agent, sight.holders, key));
  json::array values, observations;
  for (const FactValueRow& row : rows) values.push_back(value_json(row));
  CLAWMARK_ASSIGN(const auto facts,
                  read_facts(call.db, sight.scope.agent, sight.holders, call.serving.clock.now()));
  for (const Fact& one : facts) {
    if (one.key != key) continue;
    CLAWMARK_ASSIGN(const auto trail, fact_trail(call.db, one, kTrail));
    for (const FactTrailRow& row : trail) {
      observations.push_back(json::object{{"kind", row.kind},
                                          {"holder", one.holder},
                                          {"state", row.state},
                                          {"value", row.value},
                                          {"quote", row.quote},
                                          {"event", row.event},
                                          {"message", row.message}});
    }
  }
  ChangeQuery query;
  query.key = key;
  CLAWMARK_ASSIGN(auto list, changes_of(call, sight, query));
  return json::object{{"key", key},
                      {"values", std::move(values)},
                      {"observations", std::move(observations)},
                      {"changes", std::move(list)}};
}

Result<json::object> changes(const ConsoleCall& call) {
  CLAWMARK_ASSIGN(const Sight sight, operator_sight(call.db, call.params));
  ChangeQuery query;
  query.key = get_string(call.params, "key");
  query.type = get_string(call.params, "type");
  query.before = get_int(call.params, "before");
  query.limit = limit_of(call.params, 50, 1'000);
  CLAWMARK_ASSIGN(auto list, changes_of(call, sight, query));
  return json::object{{"changes", std::move(list)}};
}

Result<json::object> spend(const ConsoleCall& call) {
  const std::int64_t days =
      std::clamp<std::int64_t>(get_int(call.params, "days", 30), 1, kSpendDaysMax);
  const TimeMs since{call.serving.clock.now().value - (days - 1) * kDayMs};
  CLAWMARK_ASSIGN(const auto rows, read_spend(call.db, format_date(since, "UTC")));
  json::array list;
  for (const SpendRow& row : rows) {
    list.push_back(json::object{{"day", row.day},
                                {"worker", row.worker},
                                {"model", row.model},
                                {"calls", row.calls},
                                {"input_tokens", row.input_tokens},
                                {"output_tokens", row.output_tokens},
                                {"usd", static_cast<double>(row.micro_usd) / 1e6}});
  }
  return json::object{{"since", format_date(since, "UTC")}, {"spend", std::move(list)}};
}

struct Command {
  std::string_view name;
  Result<json::object> (*run)(const ConsoleCall&);
};
constexpr std::array<Command, 6> kCommands = {{{"conversations", conversations},
                                               {"summaries", summaries},
                                               {"world", world},
                                               {"fact", fact},
                                               {"changes", changes},
                                               {"spend", spend}}};

}  // namespace

std::optional<Result<json::object>> run_console(Serving& serving, Database& db,
                                                std::string_view command,
                                                const json::object& params) {
  for (const Command& known : kCommands) {
    if (known.name == command) return known.run({serving, db, params});
  }
  return std::nullopt;
}

}  // namespace clawmark
