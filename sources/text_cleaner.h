#pragma once
// What a person really said: the raw text without channel envelopes, time stamps, our own injected
// block (all marker versions, also when cut), and other plugins' memory blocks. The result is what
// is indexed, extracted and shown; the raw text is what is hashed.

#include <string>
#include <string_view>

namespace clawmark {

std::string clean_text(std::string_view raw);
// clean_text + redact_secrets + valid UTF-8: the only form that may be stored, indexed or sent.
std::string presentable_text(std::string_view raw);

// `noise` of a chat message (schema/events.md), empty for real talk.
std::string classify_noise(std::string_view role, std::string_view raw);

}  // namespace clawmark
