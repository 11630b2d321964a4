#pragma once
// What the argument parser and the table of configuration keys know, written as shell completions
// and as pages.

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace clawmark {

// A command line that does something useful: "clawmark search \"payment provider\"". Empty for an
// unknown command. `command` with its group: "parked list".
std::string_view example_of(std::string_view command);

// Completions of `app` for "bash", "zsh" or "fish"; empty for another shell.
std::string completion_of(const CLI::App& app, std::string_view shell);

// clawmark(1) in roff: commands, their options and examples, configuration keys, exit codes.
std::string manual_of(const CLI::App& app);
// The same as Markdown: docs/reference.md.
std::string reference_of(const CLI::App& app);

}  // namespace clawmark
