#include "models/tolerant_json.h"

#include <charconv>
#include <cmath>

#include "base/limits.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kSkipsMax = 64;  // unreadable items before the whole is called bad

bool is_name_start(char c) {
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}
bool is_name(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9') || c == '_' || c == '.';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  TolerantEnd value(json::value& out, std::size_t depth) {
    skip_space();
    if (at_end()) return TolerantEnd::kCut;
    if (depth > kJsonDepthMax) return TolerantEnd::kBad;
    const char c = text_[at_];
    if (c == '{') return object(out, depth);
    if (c == '[') return array(out, depth);
    if (c == '"' || c == '\'') {
      std::string text;
      const TolerantEnd end = string(text);
      if (end == TolerantEnd::kWhole) out = text;
      return end;
    }
    if (c == '-' || is_digit(c)) return number(out);
    if (is_name_start(c)) return word(out);
    return TolerantEnd::kBad;
  }

  std::size_t used() const { return at_; }
  std::size_t skipped() const { return skipped_; }

 private:
  bool at_end() const { return at_ >= text_.size(); }

  void skip_space() {
    while (!at_end()) {
      const std::string_view rest = text_.substr(at_);
      if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r') {
        ++at_;
      } else if (rest.starts_with("\xC2\xA0")) {
        at_ += 2;
      } else if (rest.starts_with("//")) {
        at_ += std::min(rest.find('\n'), rest.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t close = rest.find("*/", 2);
        at_ += close == std::string_view::npos ? rest.size() : close + 2;
      } else {
        return;
      }
    }
  }

  void skip_commas() {
    skip_space();
    while (!at_end() && text_[at_] == ',') {
      ++at_;
      skip_space();
    }
  }

  TolerantEnd object(json::value& out, std::size_t depth) {
    ++at_;
    json::object members;
    const auto leave = [&](TolerantEnd end) {
      out = std::move(members);
      return end;
    };
    while (true) {
      skip_commas();
      if (at_end()) return leave(TolerantEnd::kCut);
      if (text_[at_] == '}') {
        ++at_;
        return leave(TolerantEnd::kWhole);
      }
      std::string name;
      if (const TolerantEnd end = member_name(name); end != TolerantEnd::kWhole) return leave(end);
      skip_space();
      if (at_end()) return leave(TolerantEnd::kCut);
      if (text_[at_] != ':') return leave(TolerantEnd::kBad);
      ++at_;
      json::value member;
      const TolerantEnd end = value(member, depth + 1);
      // A cut container keeps its whole items; a cut string or number is worth nothing.
      if (end == TolerantEnd::kWhole || member.is_array()) members[name] = std::move(member);
      if (end != TolerantEnd::kWhole) return leave(end);
      skip_space();
      if (at_end()) return leave(TolerantEnd::kCut);
      if (text_[at_] != ',' && text_[at_] != '}') return leave(TolerantEnd::kBad);
    }
  }

  TolerantEnd array(json::value& out, std::size_t depth) {
    ++at_;
    json::array items;
    const auto leave = [&](TolerantEnd end) {
      out = std::move(items);
      return end;
    };
    while (true) {
      skip_commas();
      if (at_end()) return leave(TolerantEnd::kCut);
      if (text_[at_] == ']') {
        ++at_;
        return leave(TolerantEnd::kWhole);
      }
      json::value item;
      const TolerantEnd end = value(item, depth + 1);
      if (end == TolerantEnd::kCut) return leave(TolerantEnd::kCut);
      if (end == TolerantEnd::kBad) {
        // Goes on at the next object of a list of objects.
        const std::size_t next = text_.find('{', at_);
        if (++skipped_ > kSkipsMax) return leave(TolerantEnd::kBad);
        if (next == std::string_view::npos) return leave(TolerantEnd::kCut);
        at_ = next;
        continue;
      }
      items.push_back(std::move(item));
      skip_space();
      if (at_end()) return leave(TolerantEnd::kCut);
      if (text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '{') {
        return leave(TolerantEnd::kBad);
      }
    }
  }

  TolerantEnd member_name(std::string& name) {
    if (text_[at_] == '"' || text_[at_] == '\'') return string(name);
    if (!is_name_start(text_[at_])) return TolerantEnd::kBad;
    const std::size_t start = at_;
    while (!at_end() && is_name(text_[at_])) ++at_;
    name = text_.substr(start, at_ - start);
    return at_end() ? TolerantEnd::kCut : TolerantEnd::kWhole;
  }

  TolerantEnd string(std::string& out) {
    const char quote = text_[at_++];
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == quote) {
        out = to_valid_utf8(out);
        return TolerantEnd::kWhole;
      }
      if (c != '\\') {
        out.push_back(c);
        continue;
      }
      if (at_end()) return TolerantEnd::kCut;
      escape(out);
    }
    return TolerantEnd::kCut;
  }

  void escape(std::string& out) {
    const char c = text_[at_++];
    switch (c) {
      case 'n':
        out.push_back('\n');
        return;
      case 't':
        out.push_back('\t');
        return;
      case 'r':
        out.push_back('\r');
        return;
      case 'b':
        out.push_back('\b');
        return;
      case 'f':
        out.push_back('\f');
        return;
      case 'u':
        unicode(out);
        return;
      case '"':
      case '\'':
      case '\\':
      case '/':
        out.push_back(c);
        return;
      default:  // no escape at all: "C:\dir"
        out.push_back('\\');
        out.push_back(c);
    }
  }

  // The four hex digits after "\u"; nullopt when they are not there.
  std::optional<char32_t> hex4(std::size_t at) const {
    std::uint32_t unit = 0;
    if (at + 4 > text_.size()) return std::nullopt;
    const char* const stop = text_.data() + at + 4;
    const auto [end, error] = std::from_chars(text_.data() + at, stop, unit, 16);
    if (error != std::errc() || end != stop) return std::nullopt;
    return static_cast<char32_t>(unit);
  }

  void unicode(std::string& out) {
    const auto first = hex4(at_);
    if (!first) {
      out += "\\u";
      return;
    }
    at_ += 4;
    char32_t c = *first;
    if (c >= 0xD800 && c <= 0xDBFF && text_.substr(at_).starts_with("\\u")) {
      if (const auto second = hex4(at_ + 2); second && *second >= 0xDC00 && *second <= 0xDFFF) {
        c = 0x10000 + ((c - 0xD800) << 10) + (*second - 0xDC00);
        at_ += 6;
      }
    }
    append_code_point(out, c >= 0xD800 && c <= 0xDFFF ? kReplacement : c);
  }

  TolerantEnd number(json::value& out) {
    const std::size_t start = at_;
    while (!at_end() && (is_digit(text_[at_]) || text_[at_] == '-' || text_[at_] == '+' ||
                         text_[at_] == '.' || (text_[at_] | 0x20) == 'e')) {
      ++at_;
    }
    if (at_end()) return TolerantEnd::kCut;  // more digits may have been to come
    const std::string_view digits = text_.substr(start, at_ - start);
    std::int64_t whole = 0;
    const char* const stop = digits.data() + digits.size();
    const auto integral = std::from_chars(digits.data(), stop, whole);
    if (integral.ec == std::errc() && integral.ptr == stop) {
      out = whole;
      return TolerantEnd::kWhole;
    }
    double real = 0;
    const auto floating = std::from_chars(digits.data(), stop, real);
    if (floating.ec != std::errc() || floating.ptr != stop) return TolerantEnd::kBad;
    out = real;
    return TolerantEnd::kWhole;
  }

  TolerantEnd word(json::value& out) {
    const std::size_t start = at_;
    while (!at_end() && is_name_start(text_[at_])) ++at_;
    if (at_end()) return TolerantEnd::kCut;
    const std::string name = lower_ascii(text_.substr(start, at_ - start));
    if (name == "true" || name == "false") {
      out = name == "true";
    } else if (name == "null" || name == "none" || name == "nan" || name == "undefined") {
      out = nullptr;
    } else {
      return TolerantEnd::kBad;
    }
    return TolerantEnd::kWhole;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace

TolerantValue read_tolerant_json(std::string_view text) {
  TolerantValue read;
  Reader reader(text);
  read.end = reader.value(read.value, 0);
  read.used = reader.used();
  read.skipped = reader.skipped();
  return read;
}

}  // namespace clawmark
