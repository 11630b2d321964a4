#pragma once
// English stemming: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with
// his later departures (BLI for ABLI, LOGI).

#include <string>

namespace clawmark {

// In place, for words of a–z only; others and words under three letters stay as they are.
void porter_stem(std::string& word);

}  // namespace clawmark
