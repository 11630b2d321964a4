#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <algorithm>
#include <memory>

#include "base/utf8.h"
#include "models/model.h"

namespace clawmark {
namespace {

// Grapheme borders (UAX #29) of one stretch of text. Where ICU cannot help, every code point is
// one.
class Graphemes {
 public:
  explicit Graphemes(std::string_view text) {
    UErrorCode code = U_ZERO_ERROR;
    text_ = utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &code);
    iterator_.reset(icu::BreakIterator::createCharacterInstance(icu::Locale::getRoot(), code));
    if (U_SUCCESS(code)) iterator_->setText(text_, code);
    if (U_FAILURE(code)) iterator_.reset();
  }
  ~Graphemes() { utext_close(text_); }
  Graphemes(const Graphemes&) = delete;
  Graphemes& operator=(const Graphemes&) = delete;

  bool is_border(std::size_t at) {
    return !iterator_ || iterator_->isBoundary(static_cast<std::int32_t>(at)) != 0;
  }
  // The last border at or before `at`; 0 when there is none but the start.
  std::size_t border_before(std::size_t at) {
    if (is_border(at)) return at;
    const std::int32_t found = iterator_->preceding(static_cast<std::int32_t>(at));
    return found == icu::BreakIterator::DONE ? 0 : static_cast<std::size_t>(found);
  }

 private:
  UText* text_ = nullptr;
  std::unique_ptr<icu::BreakIterator> iterator_;
};

bool ends_sentence(char32_t c) {
  switch (c) {
    case '.':
    case '!':
    case '?':
    case 0x3002:  // 。
    case 0xFF01:
    case 0xFF1F:
    case 0x061F:
    case 0x06D4:
    case 0x0964:
    case 0x2026:
      return true;
    default:
      return false;
  }
}

// Where the window may be cut: after the last sentence, else after the last blank. 0: nowhere good.
// A border in the first third is not good: it would make many small pieces.
std::size_t cut_at_words(std::string_view window, Graphemes& graphemes) {
  std::size_t sentence = 0, word = 0;
  char32_t before = 0;
  for (std::size_t at = 0; at < window.size();) {
    const char32_t c = next_code_point(window, at);
    if (is_space(c)) {
      if (at > window.size() / 3 && graphemes.is_border(at)) {
        word = at;
        if (c == '\n' || ends_sentence(before)) sentence = at;
      }
    } else if (c > 0x7F && ends_sentence(c) && at > window.size() / 3 && graphemes.is_border(at)) {
      sentence = at;
    }
    before = c;
  }
  return sentence != 0 ? sentence : word;
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, std::size_t bytes_max) {
  constexpr std::size_t kLongestCodePoint = 4;
  constexpr std::size_t kLookAhead = 256;  // enough to see that a grapheme goes on after the window
  bytes_max = std::max(bytes_max, kLongestCodePoint);
  std::vector<std::string_view> chunks;
  while (text.size() > bytes_max) {
    const std::string_view window = prefix_bytes(text, bytes_max);
    Graphemes graphemes(text.substr(0, bytes_max + kLookAhead));
    std::size_t cut = cut_at_words(window, graphemes);
    if (cut == 0) cut = graphemes.border_before(window.size());
    if (cut == 0 || cut > window.size()) cut = window.size();  // a grapheme longer than a chunk
    if (cut == 0) cut = bytes_max;                             // not UTF-8 at all
    chunks.push_back(text.substr(0, cut));
    text.remove_prefix(cut);
  }
  if (!text.empty()) chunks.push_back(text);
  return chunks;
}

}  // namespace clawmark
