#pragma once
// What a text shows without being understood: that it asks, that it names a time or a number, who
// speaks. English words; questions and digits in any script. Inside projections/ only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

enum CueFlag : unsigned {
  kCueAsks = 1,       // ends with a question mark
  kCueTime = 2,       // yesterday, last week, in June, 2023
  kCueNumber = 4,     // digits or a number word
  kCueAssistant = 8,  // not the text's: whose it is
  kCueStanding = 16,  // an instruction for always: "never …", "when I ask …"
  kCuePrefers = 32,   // "I prefer …", "my favourite …"
};

unsigned text_cues(std::string_view text);  // all but kCueAssistant

// "Mira: hello" → "Mira"; empty when the text does not begin so.
std::string_view speaker_prefix(std::string_view text);
// A name's words as search_tokens() gives them, joined by blanks.
std::string speaker_tokens(std::string_view name);

// Terms under which the index keeps a day (days since 1970, UTC), none of which any text holds: the
// day, its month in its year, the month, the year. None for day 0.
std::vector<std::string> day_terms(std::int64_t day);
// The same for days, months and years that a query names ("8 May 2023", "in June", "2024-01-05"). A
// day is one of `zone` (IANA): both days of UTC that share it.
std::vector<std::string> named_day_terms(std::string_view query, std::string_view zone);

}  // namespace clawmark
