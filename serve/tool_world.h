#pragma once
// The world model's tools: wc_restore, wc_search, wc_graph, wc_episode, wc_expand, wc_file. No
// model is called. A caller sees what its wall opens, as with all tools; every line says where it
// comes from; what cannot be read is said, never passed off as nothing.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "projections/graph.h"
#include "serve/tools.h"

namespace clawmark {

Result<ToolAnswer> tool_world_restore(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_search(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_graph(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_episode(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_expand(const ToolCallContext& context, const json::object& params);
Result<ToolAnswer> tool_world_file(const ToolCallContext& context, const json::object& params);

// Whose things a call may see, as of params.at (ISO time). Error: invalid, with the remedy.
Result<GraphScope> world_scope(const ToolCallContext& context, const json::object& params);

// Lines with their sources: collected first, written when all citations are known.
class WorldText {
 public:
  WorldText(Database& db, std::string zone, std::size_t chars_max)
      : db_(db), zone_(std::move(zone)), chars_max_(chars_max) {}

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

 private:
  struct Line {
    std::string section, text;
    std::int64_t message = 0;
    bool cited = false;
  };
  Database& db_;
  std::string zone_;
  std::size_t chars_max_;
  std::string section_;
  std::vector<Line> all_;
  std::vector<std::string> degraded_;
  std::size_t lines_ = 0;
};

// One line about a thing: name, what is known of it, how sure.
std::string node_text(const GraphNodeRow& node, const WorldText& text);
std::string episode_text(const GraphEpisodeRow& episode, const WorldText& text);
json::object node_json(const GraphNodeRow& node);

}  // namespace clawmark
