#pragma once
// Foreign text made fit to stand inside the guard: one line, no invisible characters, and nothing
// in it that reads as one of our markers, however it is spelt.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clawmark {

// One line of valid UTF-8. Square brackets (of any script) before something that reads like a
// memory marker become round; chat-template tokens are broken up. Idempotent.
std::string quote_inline(std::string_view text);
// The same with its blanks and tabs as they are: for texts that are shown whole.
std::string quote_line(std::string_view text);

// At most `chars_max` code points; a cut is marked with "…".
std::string shorten(std::string_view text, std::size_t chars_max);

// "1 fact", "3 facts".
std::string counted(std::int64_t count, std::string_view one, std::string_view many);

// Says something that ages quickly ("current version", "this week", a price).
bool is_volatile(std::string_view text);

}  // namespace clawmark
