#pragma once
// What a text shows without being understood: that it asks, that it names a time or a number, who
// speaks. English words; questions and digits in any script. Inside projections/ only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

enum CueFlag : unsigned { kCueAsks = 1, kCueTime = 2, kCueNumber = 4, kCueAssistant = 8 };

unsigned text_cues(std::string_view text);  // of kCueAsks, kCueTime, kCueNumber

// "Mira: hello" → "Mira"; empty when the text does not begin so.
std::string_view speaker_prefix(std::string_view text);
// A name's words as search_tokens() gives them, joined by blanks.
std::string speaker_tokens(std::string_view name);

// Terms under which the index keeps a day (days since 1970, UTC), none of which any text holds: the
// day, its month in its year, the month, the year. None for day 0.
std::vector<std::string> day_terms(std::int64_t day);
// The same for days, months and years that a query names ("8 May 2023", "in June", "2024-01-05").
std::vector<std::string> named_day_terms(std::string_view query);

}  // namespace clawmark
