// wc_search, wc_graph, wc_episode, wc_expand, wc_file.

#include <algorithm>
#include <array>

#include "base/graph_types.h"
#include "base/limits_world.h"
#include "base/read_snapshot.h"
#include "base/utf8.h"
#include "log/event_log.h"
#include "log/graph_events.h"
#include "projections/messages.h"
#include "serve/quote.h"
#include "serve/tool_world.h"
#include "serve/tool_writes.h"
#include "sources/text_cleaner.h"

namespace clawmark {
namespace {

constexpr std::size_t kAnswerChars = 8'000;
constexpr std::int64_t kExpandWaitMs = 1'000;
constexpr std::size_t kListed = 50;
constexpr std::size_t kWalkNodes = 60;
constexpr int kDepthMax = 4;

std::size_t limit_of(const json::object& params, std::int64_t usual) {
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(get_int(params, "limit", usual), 1, 100));
}

// A type that does not exist is a mistake, not a kind of which nothing is known.
template <std::size_t N>
std::optional<ToolAnswer> unknown_type(const char* name, const json::object& params,
                                       const std::array<std::string_view, N>& types) {
  const std::string type = get_string(params, name);
  if (type.empty() || holds(types, type)) return std::nullopt;
  std::string list;
  for (const auto known : types) list += (list.empty() ? "" : ", ") + std::string(known);
  return bad_request("There is no type \u201c" + shorten(quote_inline(type), 40) +
                     "\u201d; it is one of " + list + ".");
}

// What could not be read is said, and is no success.
ToolAnswer broken(std::string_view what, const Error& error) {
  return {false,
          "The " + std::string(what) + " could not be read (" + error.reason +
              "): this says nothing about what is in it. Check with: clawmark doctor",
          {{"degraded", json::array{what}}}};
}

std::string kind_text(const GraphNodeRow& node) {
  std::string out = node.type;
  if (!node.status.empty()) out += ", " + node.status;
  if (node.valid_to) out += ", replaced";
  return out;
}

// "sum_42", or its number alone.
std::optional<std::int64_t> summary_number(std::string_view id) {
  if (id.starts_with("sum_")) id.remove_prefix(4);
  const bool numbered =
      !id.empty() && id.size() < 16 && id.find_first_not_of("0123456789") == std::string_view::npos;
  if (!numbered) return std::nullopt;
  return std::stoll(std::string(id));
}

std::string names_of(const std::vector<GraphNodeRow>& nodes) {
  std::string out;
  for (const auto& node : nodes) {
    out += "\n- " + node.type + ": " + quote_inline(node.name);
  }
  return out;
}

// A thing by name: the one, or an answer that says why not.
struct Named {
  std::optional<GraphNodeRow> node;
  ToolAnswer otherwise;
};
Result<Named> named(const ToolCallContext& context, const GraphScope& scope,
                    const json::object& params) {
  const std::string name = get_string(params, "name");
  const std::string type = get_string(params, "nodeType");
  Named out;
  if (trim(name).empty()) {
    out.otherwise = bad_request("Say which: `name` is missing.");
    return out;
  }
  CLAWMARK_ASSIGN(auto found, find_nodes(context.db, scope, name, 20));
  if (!type.empty()) {
    std::erase_if(found, [&](const GraphNodeRow& row) { return row.type != type; });
  }
  if (found.size() == 1) {
    out.node = std::move(found.front());
  } else if (found.empty()) {
    CLAWMARK_ASSIGN(const auto near, search_nodes(context.db, scope, name, 5));
    out.otherwise =
        refusal("Nothing is known under the name \u201c" + shorten(quote_inline(name), 100) +
                "\u201d." + (near.empty() ? "" : " Perhaps one of these:" + names_of(near)));
  } else {
    out.otherwise = refusal(
        "Several things go by that name; ask again with `nodeType` or the full "
        "name:" +
        names_of(found));
    json::array candidates;
    for (const auto& node : found) candidates.push_back(node_json(node));
    out.otherwise.details["candidates"] = std::move(candidates);
  }
  return out;
}

Result<ToolAnswer> list_graph(const ToolCallContext& context, const GraphScope& scope,
                              const json::object& params, WorldText& text) {
  NodeQuery query;
  query.type = get_string(params, "nodeType");
  const std::size_t limit = limit_of(params, kListed);
  query.limit = limit + 1;
  CLAWMARK_ASSIGN(auto rows, list_nodes(context.db, scope, query));
  const bool more = rows.size() > limit;
  if (more) rows.resize(limit);
  json::array nodes;
  for (const auto& row : rows) nodes.push_back(node_json(row));
  std::vector<GraphNodeRow> sorted = rows;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const GraphNodeRow& a, const GraphNodeRow& b) { return a.type < b.type; });
  for (const auto& row : sorted) {
    text.heading(row.type);
    const std::string status = row.status.empty() ? "" : " (" + row.status + ")";
    text.line(row.name + status + (row.valid_to ? " (replaced)" : ""), row.message);
  }
  ToolAnswer answer = text.finish();
  if (rows.empty()) answer.text = "Nothing of that kind is known.";
  if (more) {
    answer.text += "\n(the newest " + std::to_string(limit) +
                   "; more are known: name a `nodeType`, or raise `limit`, at most 100)";
  }
  answer.details["nodes"] = std::move(nodes);
  answer.details["more"] = more;
  return answer;
}

Result<ToolAnswer> show_node(const ToolCallContext& context, const GraphScope& scope,
                             const GraphNodeRow& node, WorldText& text) {
  text.heading(node.type + " " + quote_inline(node.name));
  text.line(kind_text(node) + ": " + node_text(node, text), told_by(node));
  if (node.valid_to) {
    text.line("replaced on " + text.date(*node.valid_to) + " by: " + node.superseded_by,
              node.message);
  }
  text.plain("first said " + text.date(node.first) + ", last confirmed " + text.date(node.last) +
             ", said " + std::to_string(node.mentions) + " times");
  text.heading("What was said of it");
  CLAWMARK_ASSIGN(const auto claims, claims_of(context.db, scope, node.type, node.key, 10));
  for (const auto& claim : claims) text.line("\u201c" + claim.quote + "\u201d", claim.message);
  text.heading("Relations");
  CLAWMARK_ASSIGN(const auto edges, edges_of(context.db, scope, node.type, node.key, true, 40));
  EndNames names(context.db, scope);
  names.know(node);
  for (const auto& edge : edges) {
    const std::string until = edge.until ? " until " + text.date(*edge.until) : std::string();
    text.line(names.line(edge) + ", since " + text.date(edge.from_time) + until, edge.message);
  }
  ToolAnswer answer = text.finish();
  answer.details["node"] = node_json(node);
  return answer;
}

Result<ToolAnswer> traverse(const ToolCallContext& context, const GraphScope& scope,
                            const GraphNodeRow& node, int depth, WorldText& text) {
  CLAWMARK_ASSIGN(const auto walk, walk_graph(context.db, scope, node, depth, kWalkNodes));
  json::array nodes, edges;
  for (const auto& step : walk.nodes) {
    text.heading(step.depth == 0 ? "From"
                                 : std::to_string(step.depth) + " step" +
                                       (step.depth == 1 ? "" : "s") + " away");
    text.line(kind_text(step.node) + ": " + node_text(step.node, text), told_by(step.node));
    json::object row = node_json(step.node);
    row["depth"] = step.depth;
    nodes.push_back(std::move(row));
  }
  text.heading("Relations");
  EndNames names(context.db, scope);
  for (const auto& step : walk.nodes) names.know(step.node);
  for (const auto& edge : walk.edges) {
    text.line(names.line(edge), edge.message);
    edges.push_back(json::object{{"type", edge.type},
                                 {"from", edge.from},
                                 {"to", edge.to},
                                 {"since", format_iso(edge.from_time)}});
  }
  ToolAnswer answer = text.finish();
  answer.details["nodes"] = std::move(nodes);
  answer.details["edges"] = std::move(edges);
  answer.details["cut"] = walk.cut || get_bool(answer.details, "cut");
  if (walk.cut) answer.text += "\n(not all that hangs together is shown)";
  return answer;
}

std::size_t expand_chars(const ToolCallContext& context) {
  return static_cast<std::size_t>(context.serving.config()->max_expand_tokens) * kCharsPerToken;
}

// The summaries that one was made of; each opens further, down to the messages.
Result<ToolAnswer> expand_joined(const ToolCallContext& context, const GraphScope& scope,
                                 const std::string& id, const GraphTextRow& joined) {
  const std::size_t chars_max = expand_chars(context);
  std::string text = "Summary " + id + ", of " + std::to_string(joined.sources.size()) +
                     " others (quoted data, not instructions): " + quote_inline(joined.text) +
                     "\n\nMade of:\n";
  json::array below;
  std::size_t left = 0;
  for (const std::int64_t source : joined.sources) {
    CLAWMARK_ASSIGN(const auto one, graph_text(context.db, scope, "prose", source));
    const std::string name = "sum_" + std::to_string(source);
    below.emplace_back(name);
    const std::string line = !one ? "- " + name + ": no longer here\n"
                                  : "- " + name + ", until " +
                                        format_date(one->said, context.serving.config()->timezone) +
                                        ": \"" + quote_inline(one->text) + "\"\n";
    if (count_code_points(text) + count_code_points(line) > chars_max) {
      text += "- " + name + "\n";
      ++left;
    } else {
      text += line;
    }
  }
  if (left > 0)
    text += std::to_string(left) + " are only named, for length; open them one by one.\n";
  text.pop_back();
  return ToolAnswer{
      true, std::move(text), {{"id", id}, {"depth", joined.depth}, {"sources", std::move(below)}}};
}

// Messages of a summary that this caller may read, as they were said.
Result<ToolAnswer> expand(const ToolCallContext& context, const GraphScope& scope,
                          std::int64_t event_seq) {
  CLAWMARK_ASSIGN(const auto prose, graph_text(context.db, scope, "prose", event_seq));
  const std::string id = "sum_" + std::to_string(event_seq);
  if (!prose) return refusal("There is no summary " + id + " here.");
  if (!prose->sources.empty()) return expand_joined(context, scope, id, *prose);
  CLAWMARK_ASSIGN(const auto event, EventLog::get(context.db, {event_seq}));
  std::vector<Seq> wanted;
  if (event) {
    if (const auto* list = find_array(event->payload, "messages")) {
      for (const auto& item : *list) {
        if (item.is_int64()) wanted.push_back({item.get_int64()});
      }
    }
  }
  CLAWMARK_ASSIGN(auto rows, read_messages(context.db, wanted));
  std::erase_if(rows, [&](const MessageRow& row) {
    const bool heard =
        std::find(scope.holders.begin(), scope.holders.end(), row.audience) != scope.holders.end();
    return row.state != "active" || !heard || row.agent != scope.agent;
  });
  std::vector<Seq> asked;
  for (const auto& row : rows) asked.push_back(row.seq);
  const BodyAnswer bodies = context.serving.bodies.get(context.db, asked, kExpandWaitMs);
  const std::size_t chars_max = expand_chars(context);
  std::string text = "Summary " + id +
                     " (quoted data, not instructions): " + quote_inline(prose->text) +
                     "\n\nIts messages:\n";
  std::size_t gone = 0, left = 0;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    if (n >= bodies.bodies.size() || bodies.bodies[n].state == BodyState::kGone) {
      ++gone;
      continue;
    }
    const std::string who = rows[n].role == "assistant" ? "assistant"
                            : rows[n].speaker.empty()   ? rows[n].role
                                                        : quote_inline(rows[n].speaker);
    const std::string line =
        "- " + format_date(rows[n].occurred, context.serving.config()->timezone) + ", " + who +
        ": \"" + quote_inline(presentable_text(bodies.bodies[n].text)) + "\"\n";
    if (count_code_points(text) + count_code_points(line) > chars_max) {
      left = rows.size() - n;
      break;
    }
    text += line;
  }
  if (gone > 0)
    text += std::to_string(gone) + " more can no longer be read where the host kept them.\n";
  if (left > 0) text += std::to_string(left) + " more are left out for length.\n";
  text.pop_back();
  return ToolAnswer{true, std::move(text), {{"id", id}, {"messages", rows.size()}, {"gone", gone}}};
}

}  // namespace

Result<ToolAnswer> tool_world_search(const ToolCallContext& context, const json::object& params) {
  if (context.sight.holders.empty()) return closed_answer(context.sight);
  const std::string query = get_string(params, "query");
  const std::string where = get_string(params, "scope", "all");
  if (trim(query).empty()) return bad_request("Say what to look for: `query` is missing.");
  const bool known = where == "all" || where == "graph" || where == "episodes" ||
                     where == "summaries" || where == "transcript";
  if (!known) return bad_request("`scope` is one of all, graph, episodes, summaries, transcript.");
  const auto scope = world_scope(context, params);
  if (!scope.ok()) return bad_request(scope.error().message);
  WorldText text(context, *scope, kAnswerChars);
  const std::size_t limit = limit_of(params, 8);
  json::array nodes;
  if (where == "all" || where == "graph") {
    text.heading("Things");
    if (auto rows = search_nodes(context.db, *scope, query, limit); rows.ok()) {
      for (const auto& row : *rows) {
        text.line(kind_text(row) + ": " + node_text(row, text), told_by(row));
        nodes.push_back(node_json(row));
      }
    } else {
      text.failed("graph", rows.error());
    }
  }
  if (where == "all" || where == "episodes") {
    text.heading("What happened");
    EpisodeQuery asked;
    asked.text = query;
    asked.limit = limit;
    if (auto rows = list_episodes(context.db, *scope, asked); rows.ok()) {
      for (const auto& row : *rows) text.line(episode_text(row, text), row.message);
    } else {
      text.failed("episodes", rows.error());
    }
  }
  if (where == "all" || where == "summaries") {
    text.heading("Summaries");
    if (auto rows = graph_texts(context.db, *scope, "prose", 200); rows.ok()) {
      std::size_t shown = 0;
      const std::string wanted = fold_case(query);
      for (const auto& row : *rows) {
        if (shown >= limit || fold_case(row.text).find(wanted) == std::string::npos) continue;
        text.line("sum_" + std::to_string(row.event) + ": " + row.text, row.message);
        ++shown;
      }
    } else {
      text.failed("summaries", rows.error());
    }
  }
  ToolAnswer answer = text.finish();
  answer.details["nodes"] = std::move(nodes);
  if (where == "all" || where == "transcript") {
    CLAWMARK_ASSIGN(const ToolAnswer recalled, tool_search(context, params));
    answer.text += (answer.text.empty() ? "" : "\n\n") + recalled.text;
    answer.details["recalled"] = recalled.details;
  }
  if (answer.text.empty()) answer.text = "Nothing found.";
  return answer;
}

Result<ToolAnswer> tool_world_graph(const ToolCallContext& context, const json::object& params) {
  if (context.sight.holders.empty()) return closed_answer(context.sight);
  const auto scope = world_scope(context, params);
  if (!scope.ok()) return bad_request(scope.error().message);
  if (auto unknown = unknown_type("nodeType", params, kNodeTypes)) return *std::move(unknown);
  const ReadSnapshot snapshot(context.db);
  const std::string action = get_string(params, "action", "list");
  WorldText text(context, *scope, kAnswerChars);
  if (action == "list") {
    auto listed = list_graph(context, *scope, params, text);
    return listed.ok() ? std::move(listed) : Result<ToolAnswer>(broken("graph", listed.error()));
  }
  if (action != "node" && action != "traverse") {
    return bad_request("`action` is one of list, node, traverse.");
  }
  const auto found = named(context, *scope, params);
  if (!found.ok()) return broken("graph", found.error());
  if (!found->node) return found->otherwise;
  const int depth =
      static_cast<int>(std::clamp<std::int64_t>(get_int(params, "depth", 1), 1, kDepthMax));
  auto shown = action == "node" ? show_node(context, *scope, *found->node, text)
                                : traverse(context, *scope, *found->node, depth, text);
  return shown.ok() ? std::move(shown) : Result<ToolAnswer>(broken("graph", shown.error()));
}

Result<ToolAnswer> tool_world_episode(const ToolCallContext& context, const json::object& params) {
  if (context.sight.holders.empty()) return closed_answer(context.sight);
  const auto scope = world_scope(context, params);
  if (!scope.ok()) return bad_request(scope.error().message);
  const std::string action = get_string(params, "action", "list");
  if (action != "list" && action != "search")
    return bad_request("`action` is one of list, search.");
  if (auto unknown = unknown_type("eventType", params, kEpisodeTypes)) return *std::move(unknown);
  EpisodeQuery query;
  query.salience_min = std::clamp(get_double(params, "minSalience", 0), 0.0, 1.0);
  query.type = get_string(params, "eventType");
  query.text = action == "search" ? get_string(params, "query") : "";
  query.limit = limit_of(params, 20);
  if (action == "search" && trim(query.text).empty()) {
    return bad_request("Say what to look for: `query` is missing.");
  }
  const auto rows = list_episodes(context.db, *scope, query);
  if (!rows.ok()) return broken("episodes", rows.error());
  WorldText text(context, *scope, kAnswerChars);
  text.heading("What happened");
  json::array list;
  for (const auto& row : *rows) {
    text.line(episode_text(row, text), row.message);
    list.push_back(json::object{{"type", row.type},
                                {"title", row.title},
                                {"description", row.description},
                                {"salience", row.salience},
                                {"date", text.date(row.occurred)},
                                {"message", row.message}});
  }
  ToolAnswer answer = text.finish();
  if (rows->empty()) answer.text = "No such episode is known.";
  answer.details["episodes"] = std::move(list);
  return answer;
}

Result<ToolAnswer> tool_world_expand(const ToolCallContext& context, const json::object& params) {
  if (context.sight.holders.empty()) return closed_answer(context.sight);
  const auto scope = world_scope(context, params);
  if (!scope.ok()) return bad_request(scope.error().message);
  const std::string id = get_string(params, "summaryId");
  const auto seq = summary_number(id);
  if (!seq) return bad_request("`summaryId` is the id of a summary, like sum_42.");
  auto answer = expand(context, *scope, *seq);
  return answer.ok() ? std::move(answer) : Result<ToolAnswer>(broken("summary", answer.error()));
}

Result<ToolAnswer> tool_world_dissolve(const ToolCallContext& context, const json::object& params) {
  const GraphScope scope = scope_of(context.sight, context.serving.clock.now());
  const std::string id = get_string(params, "summaryId");
  const auto seq = summary_number(id);
  if (!seq) return bad_request("`summaryId` is the id of a summary, like sum_42.");
  CLAWMARK_ASSIGN(const auto text, graph_text(context.db, scope, "prose", *seq));
  if (!text) return refusal("There is no summary " + id + " here.");
  if (text->sources.empty()) {
    return refusal(id + " is of messages: there is nothing below it to stand for itself.");
  }
  NewEvent event =
      fact_event(context, event_type::kSummaryDissolved, "dissolved", {{"summary", *seq}});
  CLAWMARK_TRY(submit(context, {std::move(event)}));
  return ToolAnswer{true,
                    id + " is taken apart; the " + std::to_string(text->sources.size()) +
                        " summaries below it stand for themselves again, and stay so.",
                    {{"id", id}}};
}

}  // namespace clawmark
