#pragma once
// What a large content is about, without a model: structure, sizes, names and levels by kind, its
// beginning and end. The same text always gives the same summary; secrets are redacted before
// anything is looked at.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

// Raised when the same text may give another summary than before.
inline constexpr std::string_view kExplorerVersion = "explore-1";

// A part of a message's text, in bytes, that is looked at by itself.
struct LargePart {
  std::size_t start = 0, length = 0;
  std::string name, mime;  // as the host gives them; may be empty
};
// Contents of `<file name="…" mime="…">` blocks of at least so many tokens; when what is around
// them is as long, or there are none, the whole text. Empty: nothing is large.
std::vector<LargePart> large_parts(std::string_view text, std::size_t tokens_min);

// About how many tokens a text takes: the host's own estimate, four characters each.
std::size_t rough_tokens(std::string_view text);

struct Exploration {
  std::string kind;     // json, json lines, csv, tsv, yaml, xml, html, code, log, text
  std::string summary;  // several lines, at most kFileSummaryChars characters
};
Exploration explore(std::string_view text, std::string_view name, std::string_view mime);

}  // namespace clawmark
