#pragma once
// The marks of our own text inside someone's prompt: written by serve/, recognised by the text
// cleaner, so that what was injected is never read back as something said. Old marks stay
// recognised for ever.

#include <array>
#include <cstddef>
#include <string_view>

namespace clawmark {

// A block starts with a line that begins with kGuardOpen and ends with the line kGuardClose + 16
// hex digits + "]".
inline constexpr std::string_view kGuardOpen = "[Memory from Clawmark";
inline constexpr std::string_view kGuardClose = "[End of memory ";
constexpr std::size_t kGuardNonceDigits = 16;

// A prompt that we sent to a model through the host's own gateway begins with this line.
inline constexpr std::string_view kOwnCallMark = "[Clawmark request]";

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
