#include "cmd/mcp_tools.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace clawmark {
namespace {

constexpr std::int64_t kCallMs = 30'000;  // reconcile answers after 20 s at the latest
constexpr std::array<std::string_view, 3> kWriting = {"clawmark_set", "clawmark_forget",
                                                      "clawmark_reconcile"};
// They ask a model, or keep what a script stores.
constexpr std::array<std::string_view, 2> kReaching = {"rc_query", "rc_repl"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Hints for whoever asks a person before a tool runs.
json::object annotations(std::string_view name, const std::string& title) {
  const bool writes = is_one_of(kWriting, name);
  const bool reaches = is_one_of(kReaching, name);
  json::object out{{"title", title}, {"readOnlyHint", !writes && !reaches}};
  if (writes) {
    out["destructiveHint"] = name != "clawmark_reconcile";
    out["idempotentHint"] = true;
  }
  out["openWorldHint"] = name == "rc_query" || name == "rc_repl";
  return out;
}

std::vector<McpTool> read_table() {
  const auto parsed = parse_json(tool_table_text());
  if (!parsed.ok() || !parsed->is_array()) throw std::logic_error("the table of tools is no JSON");
  std::vector<McpTool> out;
  for (const auto& row : parsed->get_array()) {
    const json::object& entry = row.as_object();
    McpTool tool;
    tool.family = get_string(entry, "family");
    tool.name = get_string(entry, "name");
    tool.timeout_ms = std::max(kCallMs, get_int(entry, "timeout_ms") + 10'000);
    tool.schema = entry.at("inputSchema").as_object();
    const std::string title = get_string(entry, "title");
    tool.listing = json::object{{"name", tool.name},
                                {"title", title},
                                {"description", get_string(entry, "description")},
                                {"inputSchema", tool.schema},
                                {"annotations", annotations(tool.name, title)}};
    out.push_back(std::move(tool));
  }
  return out;
}

bool has_type(const json::value& value, std::string_view type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "number") return value.is_number();
  if (type == "integer") {
    if (value.is_int64() || value.is_uint64()) return true;  // and 5.0, as JSON Schema says
    return value.is_double() && std::trunc(value.get_double()) == value.get_double();
  }
  return false;
}

std::string range_fault(const json::object& schema, const json::value& value) {
  if (!value.is_number()) return {};
  const auto number = value.to_number<double>();
  if (schema.contains("minimum") && number < get_double(schema, "minimum")) {
    return "must be at least " + to_text(schema.at("minimum"));
  }
  if (schema.contains("maximum") && number > get_double(schema, "maximum")) {
    return "must be at most " + to_text(schema.at("maximum"));
  }
  return {};
}

std::string value_fault(const json::object& schema, const json::value& value) {
  const std::string type = get_string(schema, "type");
  if (!has_type(value, type)) return "must be of type " + type;
  if (const auto* words = find_array(schema, "enum")) {
    if (std::find(words->begin(), words->end(), value) == words->end()) {
      return "must be one of " + to_text(json::value(*words));
    }
  }
  return range_fault(schema, value);
}

}  // namespace

std::span<const McpTool> mcp_tools() {
  static const std::vector<McpTool> tools = read_table();
  return tools;
}

std::string argument_fault(const McpTool& tool, const json::object& arguments) {
  if (const auto* required = find_array(tool.schema, "required")) {
    for (const auto& name : *required) {
      const std::string key(view(name.as_string()));
      if (!arguments.contains(key)) return "argument " + key + " is missing";
    }
  }
  const json::object& known = tool.schema.at("properties").as_object();
  for (const auto& given : arguments) {
    const std::string name(given.key().data(), given.key().size());
    const auto* schema = find_object(known, name);
    if (schema == nullptr) {
      std::string names;
      for (const auto& property : known) {
        names.append(" ").append(property.key().data(), property.key().size());
      }
      return tool.name + " takes no such argument; it takes:" + names;
    }
    const std::string fault = value_fault(*schema, given.value());
    if (!fault.empty()) return "argument " + name + " " + fault;
  }
  return {};
}

}  // namespace clawmark
