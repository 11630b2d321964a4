#include "serve/tools.h"

#include <array>

#include "serve/tool_history.h"
#include "serve/tool_query.h"
#include "serve/tool_repl.h"
#include "serve/tool_world.h"
#include "serve/tool_writes.h"

namespace clawmark {
namespace {

using ToolFunction = Result<ToolAnswer> (*)(const ToolCallContext&, const json::object&);
struct Tool {
  std::string_view name;
  ToolFunction call;
};
constexpr std::array<Tool, 17> kTools = {{{"clawmark_set", tool_set},
                                          {"clawmark_search", tool_search},
                                          {"clawmark_reconcile", tool_reconcile},
                                          {"clawmark_review", tool_review},
                                          {"clawmark_forget", tool_forget},
                                          {"wc_restore", tool_world_restore},
                                          {"wc_search", tool_world_search},
                                          {"wc_graph", tool_world_graph},
                                          {"wc_episode", tool_world_episode},
                                          {"wc_expand", tool_world_expand},
                                          {"wc_file", tool_world_file},
                                          {"rc_peek", tool_peek},
                                          {"rc_grep", tool_grep},
                                          {"rc_slice", tool_slice},
                                          {"rc_timeline", tool_timeline},
                                          {"rc_repl", tool_repl},
                                          {"rc_query", tool_query}}};

}  // namespace

std::vector<std::string_view> tool_names() {
  std::vector<std::string_view> names;
  for (const Tool& tool : kTools) names.push_back(tool.name);
  return names;
}

bool is_tool(std::string_view name) {
  for (const Tool& tool : kTools) {
    if (tool.name == name) return true;
  }
  return false;
}

Result<ToolAnswer> call_tool(const ToolCallContext& context, std::string_view name,
                             const json::object& params) {
  for (const Tool& tool : kTools) {
    if (tool.name != name) continue;
    const std::int64_t started = context.serving.clock.steady_ms();
    context.serving.count_refusal(context.sight.refusal);
    auto answer = tool.call(context, params);
    context.serving.metrics.observe(
        "clawmark_tool_seconds", Metrics::label("tool", name),
        static_cast<double>(context.serving.clock.steady_ms() - started) / 1000);
    // What scripts kept may have been made of what is forgotten now.
    if (name == "clawmark_forget" && answer.ok() && get_bool(answer->details, "forgotten") &&
        context.serving.writer != nullptr) {
      CLAWMARK_TRY(
          context.serving.writer->run("repl_forget", {{"agent", context.sight.scope.agent}}));
    }
    return answer;
  }
  return make_error(ErrorKind::kNotFound, "tools", "unknown_tool", "there is no such tool");
}

}  // namespace clawmark
