#include "serve/tools.h"

#include <array>

#include "serve/tool_world.h"
#include "serve/tool_writes.h"

namespace clawmark {
namespace {

using ToolFunction = Result<ToolAnswer> (*)(const ToolCallContext&, const json::object&);
struct Tool {
  std::string_view name;
  ToolFunction call;
};
constexpr std::array<Tool, 11> kTools = {{{"clawmark_set", tool_set},
                                          {"clawmark_search", tool_search},
                                          {"clawmark_reconcile", tool_reconcile},
                                          {"clawmark_review", tool_review},
                                          {"clawmark_forget", tool_forget},
                                          {"wc_restore", tool_world_restore},
                                          {"wc_search", tool_world_search},
                                          {"wc_graph", tool_world_graph},
                                          {"wc_episode", tool_world_episode},
                                          {"wc_expand", tool_world_expand},
                                          {"wc_file", tool_world_file}}};

}  // namespace

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
    return answer;
  }
  return make_error(ErrorKind::kNotFound, "tools", "unknown_tool", "there is no such tool");
}

}  // namespace clawmark
