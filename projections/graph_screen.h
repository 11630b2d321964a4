#pragma once
// The screen of texts that give orders, for texts of our own making: lines that begin with who
// spoke.

#include <string>
#include <string_view>

namespace clawmark {

// Without the lines that trip the screen, each by itself or with those before it. What stands at
// the beginning of a line is a name, not a mark of a chat's role: such a line gets a dash. The same
// text gives the same lines, and theirs are themselves.
std::string screened_lines(std::string_view text);

}  // namespace clawmark
