#pragma once
// The marks of our own text inside someone's prompt: written by serve/, recognised by the text
// cleaner, so that what was injected is never read back as something said. Old marks stay
// recognised for ever.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace clawmark {

// A block starts with a line that begins with kGuardOpen and ends with the line kGuardClose + 16
// hex digits + "]".
inline constexpr std::string_view kGuardOpen = "[Memory from Clawmark";
inline constexpr std::string_view kGuardClose = "[End of memory ";
constexpr std::size_t kGuardNonceDigits = 16;

// Each prompt that we send to a model begins with this line: through the host's own gateway it
// becomes a session, which is read like any other.
inline constexpr std::string_view kOwnCallMark = "[Clawmark request]";
inline std::string own_call(std::string_view prompt) {
  return std::string(kOwnCallMark) + "\n" + std::string(prompt);
}

// Marks of earlier versions and of other memory plugins: a block from `open` to `close`, or to the
// end of the text when it was cut before `close`.
struct GuardMarks {
  std::string_view open, close;
};
inline constexpr std::array kKnownGuards = {
    GuardMarks{kGuardOpen, kGuardClose},
    GuardMarks{"[Memory \xE2\x80\x94", "[End Memory]"},
    GuardMarks{"<memory-data", "</memory-data>"},
    GuardMarks{"<relevant-memories", "</relevant-memories>"},
    GuardMarks{"<relevant_memories", "</relevant_memories>"},
    GuardMarks{"<active_memory_plugin", "</active_memory_plugin>"},
    GuardMarks{"<hindsight_memories", "</hindsight_memories>"},
};

}  // namespace clawmark
