#pragma once
// Makes JSON text that a strict parser takes out of what JavaScript writes and reads: lone
// surrogate escapes become �, ill-formed UTF-8 becomes U+FFFD. Streams: whatever the cuts between
// pieces, the output is the same.

#include <string>
#include <string_view>

namespace clawmark {

class JsonSanitizer {
 public:
  // The clean form of as much as can be decided now. The view lives until the next call and may be
  // of `piece`.
  std::string_view feed(std::string_view piece);
  std::string_view finish();  // what was held back; ready for the next text
 private:
  void run(std::string_view text, bool last);
  std::string held_, joined_, out_;
};

}  // namespace clawmark
