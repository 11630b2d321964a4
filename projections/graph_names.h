#pragma once
// Names of things: when two are the same, and when they must never be made the same.

#include <string>
#include <string_view>

namespace clawmark {

// The canonical name: NFKC case folding, white space to one blank, quotes and marks at the ends and
// a leading article off. Equal keys are one thing; nothing else is, without an event that says so.
std::string name_key(std::string_view name);

// Whether a model may propose that two names mean one thing: never when what counts or tells apart
// the like of them differs: numbers in digits or words, single letters, versions, Greek letters,
// months and days, sides and stages ("rev. C", "api-v2", "phase two", "October plan", "beta").
bool may_merge_names(std::string_view a, std::string_view b);

// What may be quoted of a thing: its description, when it stands in the words that were said; else
// those words. Nothing of a thing that has no description.
std::string words_said(std::string_view description, std::string_view quote);

// Whether two quotes of one message speak of the same passage: one holds the other, or they share
// most of their words.
bool quotes_overlap(std::string_view a, std::string_view b);

}  // namespace clawmark
