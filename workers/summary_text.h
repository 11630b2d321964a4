#pragma once
// Whether a summary may stand, and what stands when it may not. Shared by those of chunks and those
// of summaries.

#include <span>
#include <string>
#include <string_view>

namespace clawmark {

// As check_summary(), and "injection": the projections would not take it.
std::string why_no_summary(std::string_view summary, std::span<const std::string> texts,
                           std::size_t tokens_max);

// The beginnings of texts (kCutChars) without what the projections would not take; never empty.
std::string cut_of(std::span<const std::string> texts);

}  // namespace clawmark
