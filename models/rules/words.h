#pragma once
// Words of a sentence, with pauses between them and contractions in one form.

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/rules/clause.h"

namespace clawmark::rules {

// Words of text[begin, end); offsets are those of `text`.
std::vector<Word> split_words(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace clawmark::rules
