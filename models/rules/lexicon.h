#pragma once
// Closed lists that the rules lean on.

#include <optional>
#include <string_view>

namespace clawmark::rules {

// What a named tool is: "postgres" → {"database", "project"}; the key of a statement about it is
// that name, so that "we moved to SQLite" replaces "we use Postgres". `lower` may hold a version
// ("python3").
struct ToolKind {
  std::string_view kind;     // "editor", "database", …
  bool is_personal = false;  // kept under pref. when one person says it of themselves
};
std::optional<ToolKind> tool_kind(std::string_view lower);

bool is_color(std::string_view lower);
bool is_diet(std::string_view lower);      // "vegan"
bool is_relative(std::string_view lower);  // wife, cat, boss: someone with a name
bool is_only_one(std::string_view lower);  // wife, boss: there is one of them
bool is_trade(std::string_view lower);     // "nurse", "engineer": what one is by trade
bool is_attribute(
    std::string_view lower);  // "birthday", "timezone": what "my X is Y" may state of any Y
bool is_deictic(std::string_view lower);   // that, this, it, you: means nothing out of its place
bool is_trailing(std::string_view lower);  // "too", "lately": off the end of an object
bool is_hedge(std::string_view lower);     // would, might, if: not stated outright

}  // namespace clawmark::rules
