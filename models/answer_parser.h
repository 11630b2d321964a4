#pragma once
// Reads what a chat model wrote when it was asked for facts as JSON. Pure: text in, items out; any
// bytes are safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

struct ParsedEvidence {
  std::optional<std::int64_t> message;
  std::string quote;
};

struct ParsedFact {
  std::string key, value;
  std::optional<double> confidence;  // as given, clamped to 0..1
  std::vector<ParsedEvidence> evidence;
  std::string due;  // as given
};

struct ParsedAnswer {
  bool found =
      false;  // a list of facts was there, perhaps an empty one; false: the answer is no answer
  bool cut = false;  // it ended before its time: only whole items are in `facts`
  std::vector<ParsedFact> facts;
  std::size_t dropped = 0;  // items without key and value, or unreadable
};

// Tolerates: prose before and after, fences (```json, ~~~, not closed, CRLF), <think> blocks,
// trailing commas, comments, raw control characters in strings, a bare list, a single object.
// Values are kept byte for byte, fences inside them too. {"facts":[…]} is preferred; the first such
// list after the thinking wins.
ParsedAnswer parse_answer(std::string_view text);

}  // namespace clawmark
