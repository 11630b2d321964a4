// clawmark config show: every key, its value and where it came from; then what is wrong. config
// example: a file to begin with.

#include <cstdio>

#include "cmd/clawmark/command.h"
#include "cmd/terminal.h"

namespace clawmark {
namespace {

int show(Session& session) {
  const Config& config = session.config();
  const auto values = show_config(config);
  if (session.globals().json) {
    json::array rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
      rows.push_back(json::object{{"key", values[i].first},
                                  {"value", values[i].second},
                                  {"origin", config.origins.at(values[i].first)},
                                  {"variable", config_keys()[i].environment},
                                  {"help", config_keys()[i].help}});
    }
    json::array problems;
    for (const auto& problem : config.problems) problems.emplace_back(problem);
    std::printf("%s\n",
                to_text(json::object{{"keys", std::move(rows)}, {"problems", std::move(problems)}})
                    .c_str());
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [key, value] : values) {
      rows.push_back({key, one_line(value, 60), config.origins.at(key)});
    }
    std::fputs(format_table({"key", "value", "from"}, rows).c_str(), stdout);
    for (const auto& note : config.notes) std::fprintf(stderr, "%s\n", note.c_str());
    for (const auto& problem : config.problems) std::fprintf(stderr, "%s\n", problem.c_str());
  }
  return config.problems.empty() ? kExitOk : kExitUsage;
}

// Every key with what it means and its default, commented out: a file to begin with.
int example(Session&) {
  std::printf(
      "// Clawmark's configuration: ~/.config/clawmark/config.json. Nothing has to be set.\n{\n");
  for (const ConfigKey& key : config_keys()) {
    if (key.type == "secret") continue;  // ~/.config/clawmark/environment is for those
    const bool plain = key.type == "int" || key.type == "number" || key.type == "bool";
    std::string value(key.fallback);
    if (key.type == "list") {
      value = value.empty() ? "[]" : "[" + to_text(json::value(value)) + "]";
    } else if (!plain || value.empty()) {
      value = plain ? "0" : to_text(json::value(value));
    }
    std::printf("  // %s\n  // \"%s\": %s,\n", std::string(key.help).c_str(),
                std::string(key.name).c_str(), value.c_str());
  }
  std::printf("}\n");
  return kExitOk;
}

}  // namespace

void add_config(Registry& registry) {
  registry.add_group("config", "the configuration as it is in force");
  registry.add("config example", "a file with every key, its meaning and its default", example);
  registry.add("config show", "every key, its value and where it comes from", show);
}

}  // namespace clawmark
