#pragma once
// Helpers of evidence checking that both extractors share.

#include <span>
#include <string>
#include <string_view>

#include "models/model.h"

namespace clawmark {

// A person's own words: role "user", sender not a program. Their text alone can vouch for a fact.
bool is_person(const WindowMessage& message);

// Gives a fact without usable evidence the newest message of a person that holds its quote (or,
// without any quote, its value word for word), so that models that forget to cite are not lost.
// Invents nothing: what is not found stays bare.
void find_evidence(ExtractedFact& fact, std::span<const WindowMessage> window);

}  // namespace clawmark
