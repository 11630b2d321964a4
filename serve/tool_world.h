#pragma once
// The world model's tools: wc_restore, wc_search, wc_graph, wc_episode, wc_expand, wc_file. No
// model is called. A caller sees what its wall opens, as with all tools; every line says where it
// comes from; what cannot be read is said, never passed off as nothing.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "projections/graph.h"
#include "projections/large_files.h"
#include "serve/tools.h"

namespace clawmark {

Result<ToolAnswer> tool_world_restore(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_search(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_graph(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_episode(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_expand(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_file(const ToolCallContext& context, const json::object& params);

// What stands in a prompt in the place of a large content: how to read it, and its summary.
std::string file_reference(const LargeFileRow& file);

// Why: from a line of a prompt or of an answer (a fact's key, a message number, `message f85400ba`
// in a citation, sum_42, a thing's name, quoted words) to the messages and sources it rests on.
Result<ToolAnswer> tool_world_explain(const ToolCallContext& context, const json::object& params);

// Takes a summary of summaries apart (command line only).
Result<ToolAnswer> tool_world_dissolve(const ToolCallContext& context, const json::object& params);

struct StateLine {
  std::string text;
  TimeMs said;
  std::int64_t message = 0;
  bool is_summary = false;  // in a model's words, of all up to that message
};
// Where things were left off: the paragraph that a model wrote last, else what happened last.
Result<std::vector<StateLine>> left_off(Database& db, const GraphScope& scope, std::size_t limit);
// The same with what is blocked and under way: for the first prompt of a session.
Result<std::vector<StateLine>> state_lines(Database& db, const GraphScope& scope,
                                           std::size_t limit);

GraphScope scope_of(const Sight& sight, TimeMs now);
// Whose things a call may see, as of params.at (ISO time, or a position of the log). Error:
// invalid, with the remedy.
Result<GraphScope> world_scope(const ToolCallContext& context, const json::object& params);

// Lines with their sources: collected first, written when all citations are known.
class WorldText {
 public:
  WorldText(const ToolCallContext& context, const GraphScope& scope, std::size_t chars_max)
      : db_(context.db),
        zone_(context.serving.config()->timezone),
        now_(scope.at.value_or(scope.now)),
        chars_max_(chars_max) {}

  void heading(std::string text);  // shown when a line follows
  void line(std::string text, std::int64_t message);
  void plain(std::string text);  // without a source: ours, not remembered
  // A part that could not be read: said in the text and in `degraded`.
  void failed(std::string_view section, const Error& error);
  bool empty() const { return lines_ == 0; }
  const std::vector<std::string>& degraded() const { return degraded_; }
  // Text and details {lines:[{section,text,message,entry_id,session_id,date}], degraded, cut}.
  ToolAnswer finish() const;
  std::string date(TimeMs time) const { return format_date(time, zone_); }
  TimeMs now() const { return now_; }  // of the state that is told

 private:
  struct Line {
    std::string section, text;
    std::int64_t message = 0;
    bool cited = false;
  };
  Database& db_;
  std::string zone_;
  TimeMs now_;
  std::size_t chars_max_;
  std::string section_;
  std::vector<Line> all_;
  std::vector<std::string> degraded_;
  std::size_t lines_ = 0;
};

// " as of …": empty for the state of now.
std::string as_of_text(const GraphScope& scope, const WorldText& text);
// Ends of relations by name, as people wrote them; what nobody in sight named keeps its key.
class EndNames {
 public:
  EndNames(Database& db, const GraphScope& scope) : db_(db), scope_(scope) {}
  void know(const GraphNodeRow& node) { names_[{node.type, node.key}] = node.name; }
  std::string of(const std::string& type, const std::string& key);
  // "E-SEAT-409 AFFECTS Shop".
  std::string line(const GraphEdgeRow& edge) {
    return of(edge.from_type, edge.from) + " " + edge.type + " " + of(edge.to_type, edge.to);
  }

 private:
  Database& db_;
  const GraphScope& scope_;
  std::map<std::pair<std::string, std::string>, std::string> names_;
};

// One line about a thing: name, what is known of it, how sure.
std::string node_text(const GraphNodeRow& node, const WorldText& text);
// The message that says what that line tells.
std::int64_t told_by(const GraphNodeRow& node);
std::string episode_text(const GraphEpisodeRow& episode, const WorldText& text);
json::object node_json(const GraphNodeRow& node);

}  // namespace clawmark
