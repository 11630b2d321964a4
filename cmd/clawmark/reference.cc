#include "cmd/clawmark/reference.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/config.h"

namespace clawmark {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 40> kExamples = {{
    {"status", "clawmark status"},
    {"search", "clawmark search \"payment provider\""},
    {"facts", "clawmark --as telegram:101 facts"},
    {"set", "clawmark set pref.editor helix"},
    {"forget", "clawmark forget --query \"knee surgery\" --preview"},
    {"review", "clawmark review --days 60"},
    {"reconcile", "clawmark reconcile --wait"},
    {"inject", "clawmark inject --dry-run \"which payment provider did we choose?\""},
    {"events", "clawmark events --type fact.stated --limit 5"},
    {"parked", "clawmark parked list"},
    {"parked list", "clawmark parked list"},
    {"parked retry", "clawmark parked retry"},
    {"rebuild", "clawmark rebuild search"},
    {"verify", "clawmark verify"},
    {"doctor", "clawmark doctor"},
    {"config", "clawmark config show"},
    {"config show", "clawmark config show"},
    {"config example", "clawmark config example > ~/.config/clawmark/config.json"},
    {"restore", "clawmark restore"},
    {"graph", "clawmark graph \"E-SEAT-409\" --depth 2"},
    {"episodes", "clawmark episodes"},
    {"peek", "clawmark peek"},
    {"grep", "clawmark grep --regex \"E-[A-Z]+-[0-9]+\""},
    {"slice", "clawmark slice 1 10"},
    {"timeline", "clawmark timeline"},
    {"explain", "clawmark explain \"decided on Mollie instead of Stripe\""},
    {"expand", "clawmark expand sum_42"},
    {"unmerge", "clawmark unmerge"},
    {"dissolve", "clawmark dissolve sum_42"},
    {"mcp", "clawmark --as owner mcp"},
    {"backup", "clawmark backup clawmark.backup.db"},
    {"export", "clawmark export memory.jsonl"},
    {"import", "clawmark --db-path new/clawmark.db import memory.jsonl"},
    {"init", "clawmark init --dry-run"},
    {"uninstall", "clawmark uninstall --dry-run"},
    {"tui", "clawmark tui"},
    {"web", "clawmark web"},
    {"completion",
     "clawmark completion bash > ~/.local/share/bash-completion/completions/clawmark"},
    {"manual", "clawmark manual > ~/.local/share/man/man1/clawmark.1"},
    {"files", "clawmark files"},
}};

constexpr std::array<std::pair<int, std::string_view>, 7> kExitCodes = {{
    {0, "done"},
    {1, "failed, or verify or doctor found something"},
    {2, "wrong arguments or configuration"},
    {3, "reconcile, init: work is left"},
    {69, "there is no store yet"},
    {75, "another process holds the store"},
    {78, "the store cannot be used as it is"},
}};

using Apps = std::vector<const CLI::App*>;

Apps children_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string name_of(const CLI::App& group, const CLI::App& command) {
  return (group.get_parent() == nullptr ? "" : group.get_name() + " ") + command.get_name();
}

// Of every command and group, with its full name.
std::vector<std::pair<std::string, const CLI::App*>> all_of(const CLI::App& app) {
  std::vector<std::pair<std::string, const CLI::App*>> out;
  for (const CLI::App* command : children_of(app)) {
    out.emplace_back(name_of(app, *command), command);
    for (const CLI::App* below : children_of(*command)) {
      out.emplace_back(name_of(*command, *below), below);
    }
  }
  return out;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option*) { return true; });
}

// "--limit", or of a position "query".
std::string word_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  const auto& names = option.get_lnames();
  return names.empty() ? option.get_name() : "--" + names.front();
}

// The words that may stand behind a command.
std::string words_of(const CLI::App& app) {
  std::string out;
  for (const CLI::App* below : children_of(app)) out += below->get_name() + " ";
  for (const CLI::Option* option : options_of(app)) {
    if (!option->get_positional()) out += word_of(*option) + " ";
  }
  return out;
}

std::string bash_of(const CLI::App& app) {
  std::string cases = "    '') words='" + words_of(app) + "' ;;\n";
  for (const auto& [name, command] : all_of(app)) {
    cases += "    '" + name + "') words='" + words_of(*command) + "' ;;\n";
  }
  return "# bash completion of clawmark; made by `clawmark completion bash`\n"
         "_clawmark_words() {\n"
         "  local words=\n"
         "  case $1 in\n" +
         cases +
         "  esac\n"
         "  printf '%s' \"$words\"\n"
         "}\n"
         "_clawmark() {\n"
         "  local path= word index\n"
         "  for ((index = 1; index < COMP_CWORD; index++)); do\n"
         "    word=${COMP_WORDS[index]}\n"
         "    [[ $word == -* ]] && continue\n"
         "    [[ \" $(_clawmark_words \"$path\") \" == *\" $word \"* ]] || continue\n"
         "    path=${path:+$path }$word\n"
         "  done\n"
         "  COMPREPLY=($(compgen -W \"$(_clawmark_words \"$path\")\" -- "
         "\"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _clawmark clawmark\n";
}

std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("\\'") : std::string(1, c);
  return out + "'";
}

std::string fish_of(const CLI::App& app) {
  std::string out = "# fish completion of clawmark; made by `clawmark completion fish`\n";
  const auto add_options = [&](const CLI::App& command, const std::string& condition) {
    for (const CLI::Option* option : options_of(command)) {
      if (option->get_positional() || option->get_lnames().empty()) continue;
      out += "complete -c clawmark" + condition + " -l " + option->get_lnames().front() + " -d " +
             in_single_quotes(option->get_description()) + "\n";
    }
  };
  add_options(app, "");
  for (const auto& [name, command] : all_of(app)) {
    const auto blank = name.find(' ');
    const std::string condition = blank == std::string::npos ? " -n __fish_use_subcommand"
                                                             : " -n '__fish_seen_subcommand_from " +
                                                                   name.substr(0, blank) + "'";
    out += "complete -c clawmark -f" + condition + " -a " + command->get_name() + " -d " +
           in_single_quotes(command->get_description()) + "\n";
    add_options(*command, " -n '__fish_seen_subcommand_from " + command->get_name() + "'");
  }
  return out;
}

// A line of roff: what would begin a request or an escape is made harmless.
std::string roff(std::string_view text) {
  std::string out = !text.empty() && (text[0] == '.' || text[0] == '\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string usage_of(const std::string& name, const CLI::App& command) {
  std::string out = "clawmark " + name;
  for (const CLI::Option* option : options_of(command)) {
    if (!option->get_positional()) continue;
    const std::string word = word_of(*option);
    out += option->get_required() ? " " + word : " [" + word + "]";
  }
  return out;
}

}  // namespace

std::string_view example_of(std::string_view command) {
  for (const auto& [name, example] : kExamples) {
    if (name == command) return example;
  }
  return {};
}

std::string completion_of(const CLI::App& app, std::string_view shell) {
  if (shell == "bash") return bash_of(app);
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash_of(app);
  if (shell == "fish") return fish_of(app);
  return {};
}

std::string manual_of(const CLI::App& app) {
  std::string out = ".TH CLAWMARK 1 \"\" \"clawmark " + std::string(CLAWMARK_VERSION) +
                    "\"\n.SH NAME\nclawmark \\- a memory for OpenClaw agents\n.SH SYNOPSIS\n"
                    ".B clawmark\n[OPTIONS] COMMAND\n.SH OPTIONS\n";
  const auto add = [&](const CLI::Option& option) {
    out += ".TP\n.B " + roff(word_of(option)) + "\n" + roff(option.get_description()) + "\n";
  };
  for (const CLI::Option* option : options_of(app)) {
    if (option->get_group() != "Configuration") add(*option);
  }
  out += ".SH COMMANDS\n";
  for (const auto& [name, command] : all_of(app)) {
    out += ".SS " + roff(usage_of(name, *command)) + "\n" + roff(command->get_description()) + "\n";
    for (const CLI::Option* option : options_of(*command)) {
      if (word_of(*option) != "--help") add(*option);
    }
    out += ".P\nExample:\n.B " + roff(example_of(name)) + "\n";
  }
  out += ".SH CONFIGURATION\nFlag, environment variable, key of the file, default.\n";
  for (const ConfigKey& key : config_keys()) {
    out += ".TP\n.B " + roff(key.name) + "\n(" + roff(key.environment) + ") " + roff(key.help) +
           (key.fallback.empty() ? "" : " Default: " + roff(key.fallback)) + "\n";
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, text] : kExitCodes) {
    out += ".TP\n.B " + std::to_string(code) + "\n" + roff(text) + "\n";
  }
  return out + ".SH SEE ALSO\nclawmarkd \\-\\-help, sqlite3(1)\n";
}

std::string reference_of(const CLI::App& app) {
  std::string out =
      "# Reference\n\nMade by `clawmark manual --markdown` from what the programs themselves know; "
      "a test "
      "compares.\n\n## Options of all commands\n\n| option | what it says |\n|---|---|\n";
  const auto row = [](const CLI::Option& option) {
    return "| `" + word_of(option) + "` | " + option.get_description() + " |\n";
  };
  for (const CLI::Option* option : options_of(app)) {
    if (option->get_group() != "Configuration") out += row(*option);
  }
  out += "\n## Commands\n";
  for (const auto& [name, command] : all_of(app)) {
    out += "\n### `" + usage_of(name, *command) + "`\n\n" + command->get_description() + "\n\n";
    std::string table;
    for (const CLI::Option* option : options_of(*command)) {
      if (word_of(*option) != "--help") table += row(*option);
    }
    if (!table.empty()) out += "| option | what it says |\n|---|---|\n" + table + "\n";
    out += "    " + std::string(example_of(name)) + "\n";
  }
  out += "\n## Configuration\n\n| key | environment | default | |\n|---|---|---|---|\n";
  for (const ConfigKey& key : config_keys()) {
    out += "| `" + std::string(key.name) + "` | `" + std::string(key.environment) + "` | " +
           std::string(key.fallback) + " | " + std::string(key.help) + " |\n";
  }
  out += "\n## Exit codes\n\n| code | |\n|---|---|\n";
  for (const auto& [code, text] : kExitCodes) {
    out += "| " + std::to_string(code) + " | " + std::string(text) + " |\n";
  }
  return out;
}

}  // namespace clawmark
