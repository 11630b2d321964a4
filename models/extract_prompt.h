#pragma once
// The words that ask a chat model for facts.

#include <span>
#include <string>
#include <string_view>

#include "models/model.h"

namespace clawmark {

// Stamped on every extraction; a changed prompt gets a new one.
constexpr std::string_view kPromptVersion = "facts-1";

std::string extract_instructions(std::string_view zone);

// The messages, one JSON object a line, between two marks that hold a hash of all of it: nothing
// inside can contain the mark, since it would have to contain its own hash. Times are local to
// `zone`, with their offset.
std::string transcript_block(std::span<const WindowMessage> window, std::string_view zone);

}  // namespace clawmark
