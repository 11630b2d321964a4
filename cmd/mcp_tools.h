#pragma once
// The table of tools that `clawmark mcp` offers: compiled in from schema/tools.json, which is made
// of the plugin's tables, so that both say the same.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"

namespace clawmark {

std::string_view tool_table_text();  // schema/tools.json

struct McpTool {
  std::string family, name;
  std::int64_t timeout_ms = 0;  // how long a call may take
  json::object listing;         // as tools/list shows it
  json::object schema;          // its inputSchema
};

// All tools, in the order of the table.
std::span<const McpTool> mcp_tools();

// Empty, or what is wrong with the arguments and how it is right: a missing, unknown or mistyped
// one, a number out of range, a word that is not of the list. Says no value.
std::string argument_fault(const McpTool& tool, const json::object& arguments);

}  // namespace clawmark
