#include "projections/tokenizer.h"

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utext.h>

#include <array>
#include <memory>
#include <vector>

#include "base/utf8.h"
#include "projections/porter.h"

namespace clawmark {
namespace {

constexpr std::size_t kTokenBytesMax = 64;
constexpr std::size_t kPartsMax = 8;

enum class Kind { kSpace, kWord, kBigram, kDictionary, kPictograph, kJoiner, kApostrophe, kMark };

Kind ascii_kind(char32_t c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
    return Kind::kWord;
  switch (c) {
    case '-':
    case '_':
    case '.':
    case '/':
    case ':':
    case '@':
    case '+':
    case '#':
    case '&':
      return Kind::kJoiner;
    case '\'':
      return Kind::kApostrophe;
    default:
      return Kind::kSpace;
  }
}

Kind kind_of(char32_t c) {
  if (c < 0x80) return ascii_kind(c);
  const auto u = static_cast<UChar32>(c);
  if (c == 0x2019 || c == 0x02BC) return Kind::kApostrophe;
  if (c == 0x30FC || c == 0x3005) return Kind::kBigram;  // long vowel and repetition marks
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(u, &status)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_HANGUL:
    case USCRIPT_BOPOMOFO:
      return u_isalnum(u) ? Kind::kBigram : Kind::kSpace;
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
      return Kind::kDictionary;
    default:
      break;
  }
  if (u_isalnum(u)) return Kind::kWord;
  const int8_t type = u_charType(u);
  if (type == U_NON_SPACING_MARK || type == U_COMBINING_SPACING_MARK) return Kind::kMark;
  if (type == U_FORMAT_CHAR) return Kind::kMark;
  // Emoji and their like, but not what dresses them.
  if (u_hasBinaryProperty(u, UCHAR_EXTENDED_PICTOGRAPHIC)) return Kind::kPictograph;
  return Kind::kSpace;
}

bool is_dropped_mark(char32_t c) {
  return (c >= 0x0300 && c <= 0x036F) || (c >= 0x1AB0 && c <= 0x1AFF) ||
         (c >= 0x1DC0 && c <= 0x1DFF) || (c >= 0x20D0 && c <= 0x20FF) ||
         (c >= 0xFE00 && c <= 0xFE2F) || (c >= 0x064B && c <= 0x065F) || c == 0x0670 ||
         c == 0x0640 || (c >= 0x0591 && c <= 0x05C7) || (c >= 0x200B && c <= 0x200F) ||
         c == 0x00AD || c == 0x2060 || c == 0xFEFF;
}

// Letters that do not decompose.
std::string_view plain_letter(char32_t c) {
  switch (c) {
    case 0x00F8:
      return "o";
    case 0x0142:
      return "l";
    case 0x0111:
      return "d";
    case 0x0127:
      return "h";
    case 0x0131:
      return "i";
    case 0x00E6:
      return "ae";
    case 0x0153:
      return "oe";
    case 0x00F0:
      return "d";
    case 0x00FE:
      return "th";
    case 0x0649:
      return "\xD9\x8A";  // alef maksura → ya
    case 0x0629:
      return "\xD9\x87";  // ta marbuta → ha
    default:
      return {};
  }
}

std::string fold_token(std::string_view text) {
  bool ascii = true;
  for (const char c : text) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
  if (ascii) return lower_ascii(text);
  std::string folded = fold_case(text);
  UErrorCode status = U_ZERO_ERROR;
  const auto* nfd = icu::Normalizer2::getNFDInstance(status);
  const auto* nfc = icu::Normalizer2::getNFCInstance(status);
  if (U_FAILURE(status)) return folded;
  std::string decomposed;
  nfd->normalize(icu::UnicodeString::fromUTF8(folded), status).toUTF8String(decomposed);
  std::string out;
  for (std::size_t at = 0; at < decomposed.size();) {
    const char32_t c = next_code_point(decomposed, at);
    if (is_dropped_mark(c)) continue;
    if (const auto plain = plain_letter(c); !plain.empty()) {
      out += plain;
    } else {
      append_code_point(out, c);
    }
  }
  std::string composed;
  nfc->normalize(icu::UnicodeString::fromUTF8(out), status).toUTF8String(composed);
  return U_FAILURE(status) ? out : composed;
}

struct Piece {
  Kind kind;
  std::size_t start, end;
};

class Tokenizer {
 public:
  Tokenizer(std::string_view text, TokenizeFor purpose, const std::function<bool(Token&&)>& emit)
      : text_(text), purpose_(purpose), emit_(emit) {}

  void run() {
    std::size_t at = 0;
    while (at < text_.size() && !stopped_) {
      const std::size_t start = at;
      const Kind kind = kind_at(at);
      switch (kind) {
        case Kind::kWord:
          at = word_chain(start);
          break;
        case Kind::kBigram:
          at = bigrams(start);
          break;
        case Kind::kDictionary:
          at = dictionary(start);
          break;
        case Kind::kPictograph:
          send(fold_token(text_.substr(start, at - start)), start, at, false);
          break;
        default:
          break;
      }
    }
  }

 private:
  Kind kind_at(std::size_t& at) const {
    const auto first = static_cast<unsigned char>(text_[at]);
    if (first < 0x80) {
      ++at;
      return ascii_kind(first);
    }
    return kind_of(next_code_point(text_, at));
  }

  // Letters, digits, marks within, apostrophes between.
  std::size_t word_end(std::size_t start) const {
    std::size_t end = start;
    while (end < text_.size()) {
      std::size_t next = end;
      const Kind kind = kind_at(next);
      if (kind == Kind::kWord || (kind == Kind::kMark && end > start)) {
        end = next;
        continue;
      }
      if (kind != Kind::kApostrophe || end == start || next >= text_.size()) break;
      std::size_t after = next;
      if (kind_at(after) != Kind::kWord) break;
      end = after;
    }
    return end;
  }

  // Words with joiners between them, and a tail of + or #.
  std::size_t word_chain(std::size_t start) {
    parts_.clear();
    std::size_t at = start;
    std::size_t end = start;
    for (;;) {
      const std::size_t part_end = word_end(at);
      parts_.push_back({Kind::kWord, at, part_end});
      end = part_end;
      std::size_t joiners = part_end;
      while (joiners < text_.size() &&
             ascii_kind(static_cast<unsigned char>(text_[joiners])) == Kind::kJoiner) {
        ++joiners;
      }
      if (joiners == part_end) break;
      std::size_t next = joiners;
      if (joiners < text_.size() && kind_at(next) == Kind::kWord) {
        at = joiners;
        continue;
      }
      while (end < joiners && (text_[end] == '+' || text_[end] == '#')) ++end;
      break;
    }
    const std::size_t whole_end = end;
    const bool joined = parts_.size() > 1 || whole_end > parts_.back().end;
    if (joined && whole_end - start <= kTokenBytesMax && parts_.size() <= kPartsMax) {
      send(fold_token(text_.substr(start, whole_end - start)), start, whole_end, false);
      for (std::size_t i = 0; i < parts_.size(); ++i) word(parts_[i], i == 0);
    } else {
      for (const auto& part : parts_) word(part, false);
    }
    return whole_end;
  }

  void word(const Piece& piece, bool same_place) {
    std::string raw(text_.substr(piece.start, piece.end - piece.start));
    strip_apostrophes(raw);
    std::string folded = fold_token(raw);
    porter_stem(folded);
    send(std::move(folded), piece.start, piece.end, same_place);
    camel_parts(raw, piece);
  }

  // "user's" → user, "don't" → dont
  static void strip_apostrophes(std::string& word) {
    if (word.find('\'') == std::string::npos && word.find("\xE2\x80\x99") == std::string::npos &&
        word.find("\xCA\xBC") == std::string::npos) {
      return;
    }
    std::string out;
    for (std::size_t at = 0; at < word.size();) {
      const char32_t c = next_code_point(word, at);
      if (kind_of(c) != Kind::kApostrophe) {
        append_code_point(out, c);
      } else if (word.substr(at) == "s" || word.substr(at) == "S") {
        break;
      }
    }
    word = out;
  }

  // "lexicalSearch" → lexical, search beside the whole.
  void camel_parts(std::string_view raw, const Piece& piece) {
    std::vector<std::string> humps(1);
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const char c = raw[i];
      if (static_cast<unsigned char>(c) >= 0x80) return;
      const bool upper = c >= 'A' && c <= 'Z';
      const bool after_lower = i > 0 && raw[i - 1] >= 'a' && raw[i - 1] <= 'z';
      if (upper && after_lower) humps.emplace_back();
      humps.back() += c;
    }
    if (humps.size() < 2) return;
    for (const auto& hump : humps) {
      if (hump.size() < 3) return;
    }
    for (auto& hump : humps) {
      std::string folded = lower_ascii(hump);
      porter_stem(folded);
      send(std::move(folded), piece.start, piece.end, true);
    }
  }

  std::size_t bigrams(std::size_t start) {
    std::vector<Piece> characters;
    std::size_t at = start;
    while (at < text_.size()) {
      std::size_t next = at;
      const Kind kind = kind_at(next);
      if (kind != Kind::kBigram && kind != Kind::kMark) break;
      if (kind == Kind::kMark && !characters.empty()) {
        characters.back().end = next;
      } else {
        characters.push_back({kind, at, next});
      }
      at = next;
    }
    for (std::size_t i = 0; i < characters.size() && !stopped_; ++i) {
      const auto& c = characters[i];
      const bool last = i + 1 == characters.size();
      const bool single = purpose_ == TokenizeFor::kDocument || characters.size() == 1;
      if (single) send(fold_token(text_.substr(c.start, c.end - c.start)), c.start, c.end, false);
      if (last) continue;
      const std::size_t end = characters[i + 1].end;
      send(fold_token(text_.substr(c.start, end - c.start)), c.start, end, single);
    }
    return at;
  }

  std::size_t dictionary(std::size_t start) {
    std::size_t at = start;
    while (at < text_.size()) {
      std::size_t next = at;
      const Kind kind = kind_at(next);
      if (kind != Kind::kDictionary && kind != Kind::kMark) break;
      at = next;
    }
    const std::string run(text_.substr(start, at - start));
    UErrorCode status = U_ZERO_ERROR;
    thread_local const std::unique_ptr<icu::BreakIterator> breaks(
        icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
    UText* input = utext_openUTF8(nullptr, run.data(), static_cast<int64_t>(run.size()), &status);
    if (U_FAILURE(status) || breaks == nullptr) {
      send(fold_token(run), start, at, false);
      return at;
    }
    breaks->setText(input, status);
    int32_t from = breaks->first();
    for (int32_t to = breaks->next(); to != icu::BreakIterator::DONE;
         from = to, to = breaks->next()) {
      const auto a = static_cast<std::size_t>(from);
      const auto b = static_cast<std::size_t>(to);
      send(fold_token(std::string_view(run).substr(a, b - a)), start + a, start + b, false);
    }
    utext_close(input);
    return at;
  }

  void send(std::string&& text, std::size_t start, std::size_t end, bool same_place) {
    if (text.empty() || stopped_) return;
    if (text.size() > kTokenBytesMax) text = prefix_bytes(text, kTokenBytesMax);
    if (!emit_({std::move(text), start, end, same_place})) stopped_ = true;
  }

  std::string_view text_;
  TokenizeFor purpose_;
  const std::function<bool(Token&&)>& emit_;
  std::vector<Piece> parts_;
  bool stopped_ = false;
};

}  // namespace

void tokenize(std::string_view text, TokenizeFor purpose,
              const std::function<bool(Token&&)>& emit) {
  // Decomposed Hangul and the like are put together first, so that characters are what people
  // count.
  UErrorCode status = U_ZERO_ERROR;
  const auto* nfc = icu::Normalizer2::getNFCInstance(status);
  const icu::StringPiece piece(text.data(), static_cast<int32_t>(text.size()));
  if (U_SUCCESS(status) && !nfc->isNormalizedUTF8(piece, status) && U_SUCCESS(status)) {
    std::string composed;
    icu::StringByteSink<std::string> sink(&composed);
    nfc->normalizeUTF8(0, piece, sink, nullptr, status);
    if (U_SUCCESS(status)) {
      Tokenizer(composed, purpose, emit).run();
      return;
    }
  }
  Tokenizer(text, purpose, emit).run();
}

}  // namespace clawmark
