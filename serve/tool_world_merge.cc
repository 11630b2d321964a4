// clawmark unmerge: two things that were made one stand by themselves again.

#include "base/utf8.h"
#include "log/graph_events.h"
#include "projections/graph_merges.h"
#include "serve/quote.h"
#include "serve/tool_world.h"
#include "serve/tool_writes.h"

namespace clawmark {
namespace {

constexpr std::size_t kShown = 50;

std::string told(const GraphMergeRow& row) {
  return "- " + row.type + " \u201c" + quote_inline(row.from) + "\u201d, taken for \u201c" +
         quote_inline(row.into) + "\u201d" +
         (row.source == "user" ? " by a person" : " by a model") + "\n";
}

}  // namespace

Result<ToolAnswer> tool_world_unmerge(const ToolCallContext& context, const json::object& params) {
  const GraphScope scope = scope_of(context.sight, context.serving.clock.now());
  const std::string name(trim(get_string(params, "name")));
  CLAWMARK_ASSIGN(const auto rows, list_merges(context.db, scope, name, kShown));
  json::array list;
  std::string text;
  std::vector<NewEvent> events;
  for (const GraphMergeRow& row : rows) {
    json::object payload{
        {"holder", row.holder}, {"type", row.type}, {"from", row.from}, {"into", row.into}};
    list.push_back(payload);
    text += told(row);
    if (!name.empty()) {
      events.push_back(
          fact_event(context, event_type::kGraphUnmerged, "unmerged", std::move(payload)));
    }
  }
  json::object details{{"merges", std::move(list)}};
  if (name.empty()) {
    text = rows.empty() ? "Nothing was made one with another thing." : "Made one:\n" + text;
  } else if (rows.empty()) {
    return refusal("Nothing called \u201c" + quote_inline(name) +
                   "\u201d was made one with another thing; `clawmark unmerge` lists what was.");
  } else {
    CLAWMARK_TRY(submit(context, std::move(events)));
    text = "Each by itself again, and it stays so:\n" + text;
  }
  while (text.ends_with('\n')) text.pop_back();
  return ToolAnswer{true, std::move(text), std::move(details)};
}

}  // namespace clawmark
