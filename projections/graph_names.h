#pragma once
// Names of things: when two are the same, and when they must never be made the same.

#include <string>
#include <string_view>

namespace clawmark {

// The canonical name: NFKC case folding, white space to one blank, quotes and marks at the ends and
// a leading article off. Equal keys are one thing; nothing else is, without an event that says so.
std::string name_key(std::string_view name);

// Whether a model may propose that two names mean one thing: never when their numbers, single
// letters or version parts differ ("rev. C" and "rev. D", "api-v1" and "api-v2").
bool may_merge_names(std::string_view a, std::string_view b);

// Whether two quotes of one message speak of the same passage: one holds the other, or they share
// most of their words.
bool quotes_overlap(std::string_view a, std::string_view b);

}  // namespace clawmark
