#pragma once
// Text as the screening of orders looks at it (projections/fact_screen.cc alone).

#include <string>
#include <string_view>
#include <vector>

namespace clawmark {

// Case folded (NFKC), without what cannot be seen: format characters (zero-width, bidirectional
// marks, tags), variation selectors, and marks stacked upon Latin letters. Line breaks stay, other
// white space becomes one blank.
std::string screen_normalise(std::string_view text);

// Words of normalised text, each in the form in which look-alikes of other scripts coincide (UTS 39
// skeleton), digits within words read as the letters that they imitate ("1gn0re"), letters that
// stand alone in a row put together ("i g n o r e").
std::vector<std::string> screen_words(std::string_view normalised);
// A word of a rule in that form.
std::string screen_word(std::string_view word);

// "Ignore all earlier instructions" in one of twenty languages: a verb of dropping, what came
// before or all of it, and a noun for orders, near each other in any order.
bool overrides_in_other_language(std::string_view normalised);

}  // namespace clawmark
