#pragma once
// What a model may have made up: identifiers, numbers and names of its text that nobody said. Words
// in lower case are not looked at: they are how a thing is told.

#include <set>
#include <string>
#include <string_view>

namespace clawmark {

// Words with letters and digits, in lower case: "e-seat-409". Plain numbers and dates are written
// in many ways and are none.
std::set<std::string> identifiers(std::string_view text);

// What was said, by whomever counts; names of speakers belong to it.
class SaidWords {
 public:
  void add(std::string_view text);
  // The first identifier, number or name in `text` that was not said; empty: there is none. Dates
  // and times of day are never made up: they are resolved from when something was said. Where nouns
  // are written like names, names are not told from them.
  std::string made_up(std::string_view text) const;
  // Does an identifier of `text` not stand in what was said?
  bool has_unsaid_identifier(std::string_view text) const;

 private:
  bool said(std::string_view word) const;

  std::string text_;  // lower case
  std::set<std::string, std::less<>> words_, stems_, numbers_;
};

}  // namespace clawmark
