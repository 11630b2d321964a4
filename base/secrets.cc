#include "base/secrets.h"

#include <algorithm>

#include "base/secret_shapes.h"
#include "base/secret_text.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

using secret::kMark;
using secret::Name;
using secret::Value;

constexpr std::size_t kPhraseMax = 6;  // words between "password" and "is"

enum class Glue { kEquals, kTightEquals, kColon, kFlag, kVerb, kBlank };

// One pass from left to right. Every recogniser looks a bounded way ahead or moves past what it
// looked at, so the time is linear in the text.
class Scanner : private secret::Text {
 public:
  explicit Scanner(std::string_view text) : Text(text) {}

  std::string run(std::size_t& found) {
    while (at_ < text_.size()) step();
    found = found_;
    if (found_ == 0) return std::string(text_);
    out_.append(text_.substr(copied_));
    return std::move(out_);
  }

 private:
  void step();
  bool private_key();
  bool url_credentials();
  bool shaped_token();
  bool named_value(std::size_t begin, std::size_t end);
  bool foreign_name();
  bool header_value(std::size_t end);
  bool scheme_value(std::size_t at, Name scheme);
  bool command_line_user(std::size_t begin, std::size_t end);
  bool command_line_password(std::size_t begin);
  bool in_prose(Name name, std::size_t end);
  bool judge(Name name, Glue glue, Value value);

  bool replace(std::size_t begin, std::size_t end, std::string_view kind) {
    out_.append(text_.substr(copied_, begin - copied_));
    out_.append(kMark).append(kind).push_back(']');
    copied_ = at_ = end;
    ++found_;
    return true;
  }

  std::string out_;
  std::size_t at_ = 0, copied_ = 0, found_ = 0;
  bool no_more_key_ends_ = false;
};

void Scanner::step() {
  const char c = text_[at_];
  if (c == '[' && rest(at_).starts_with(kMark)) {
    const auto close = text_.find(']', at_);
    at_ = close == std::string_view::npos ? text_.size() : close + 1;
    return;
  }
  if (c == '-' && private_key()) return;
  if (c == ':' && url_credentials()) return;
  if (static_cast<unsigned char>(c) >= 0x80 && foreign_name()) return;
  if (!secret::is_word(c)) {
    ++at_;
    return;
  }
  if (shaped_token()) return;
  const std::size_t end = word_end(at_);
  if (!named_value(at_, end) && !command_line_user(at_, end) && !command_line_password(at_)) {
    at_ = end;
  }
}

bool Scanner::private_key() {
  if (!rest(at_).starts_with("-----BEGIN ")) return false;
  const auto label_end = text_.find("-----", at_ + 11);
  if (label_end == std::string_view::npos || label_end - at_ > 64) return false;
  const auto label = text_.substr(at_ + 11, label_end - at_ - 11);
  if (label.find("PRIVATE KEY") == std::string_view::npos) return false;
  auto end = no_more_key_ends_ ? std::string_view::npos : text_.find("-----END ", label_end);
  if (end != std::string_view::npos) {
    const auto close = text_.find("-----", end + 9);
    end = close != std::string_view::npos && close - end <= 80 ? close + 5 : end + 9;
    return replace(at_, end, "private_key");
  }
  // Cut off: all that can be part of it.
  no_more_key_ends_ = true;
  end = label_end + 5;
  while (end < text_.size() &&
         (secret::is_word(text_[end]) || text_[end] == '\\' ||
          std::string_view("+/=\r\n-:,").find(text_[end]) != std::string_view::npos)) {
    ++end;
  }
  return replace(at_, end, "private_key");
}

bool Scanner::url_credentials() {
  if (!rest(at_).starts_with("://") || at_ == 0 || !secret::is_word(text_[at_ - 1])) return false;
  const std::size_t begin = at_ + 3;
  std::size_t colon = std::string_view::npos, sign = std::string_view::npos;
  for (std::size_t at = begin; at < text_.size() && at < begin + 1024; ++at) {
    const char c = text_[at];
    if (static_cast<unsigned char>(c) <= ' ' ||
        std::string_view("/?#\"'`<>\\").find(c) != std::string_view::npos) {
      break;
    }
    if (c == '@') sign = at;
    if (c == ':' && colon == std::string_view::npos && sign == std::string_view::npos) colon = at;
  }
  if (sign == std::string_view::npos) return false;
  if (colon == std::string_view::npos) {
    const auto user = text_.substr(begin, sign - begin);
    return secret::is_random_token(user, 16) && replace(begin, sign, "token");
  }
  const auto password = text_.substr(colon + 1, sign - colon - 1);
  if (password.empty() || password.starts_with(kMark) ||
      (secret::is_stand_in(password) && password.find_first_of("$<{*") != password.npos)) {
    return false;
  }
  return replace(colon + 1, sign, "password");
}

bool Scanner::shaped_token() {
  const auto here = rest(at_);
  if (!secret::is_digit(here[0])) {
    std::size_t length = secret::vendor_token(here);
    if (length == 0) length = secret::jwt(here);
    return length > 0 && replace(at_, at_ + length, "token");
  }
  if (const auto length = secret::chat_bot_token(here)) {
    return replace(at_, at_ + length, "token");
  }
  const char before = at_ == 0 ? ' ' : text_[at_ - 1];
  if (before == '.' || before == '-') return false;
  const auto length = secret::card_number(here);
  return length > 0 && replace(at_, at_ + length, "card");
}

bool Scanner::named_value(std::size_t begin, std::size_t end) {
  const Name name = secret::classify_name(text_.substr(begin, end - begin), text_.substr(0, begin));
  if (name == Name::kNone) return false;
  if (name == Name::kBearer || name == Name::kBasic) {
    return secret::is_blank(peek(end)) && scheme_value(skip_blanks(end), name);
  }
  if (name == Name::kAuthorization) return header_value(end);
  const std::size_t after = skip_quote(end);
  const std::size_t sign = skip_blanks(after);
  const bool wide_colon = rest(sign).starts_with("：");
  if (peek(sign) == '=' || peek(sign) == ':' || wide_colon) {
    const bool equals = peek(sign) == '=' || peek(sign + 1) == '=';
    std::size_t at = sign + (wide_colon ? 3 : 1);
    while (peek(at) == '=' || peek(at) == '>') ++at;
    for (int i = 0; i < 2 && peek(at) == '*'; ++i) ++at;
    const std::size_t start = skip_blanks(at);
    const bool tight = sign == end && start == at;
    const Glue glue = !equals ? Glue::kColon : tight ? Glue::kTightEquals : Glue::kEquals;
    return judge(name, glue, value_at(start));
  }
  if (sign > after && is_flag(begin)) return judge(name, Glue::kFlag, value_at(sign));
  return in_prose(name, after);
}

// Names in other scripts, followed by a sign or a verb: "пароль: …", "密码是…".
bool Scanner::foreign_name() {
  constexpr std::string_view kNames[] = {"пароль",     "Пароль",   "密码", "密碼",
                                         "パスワード", "비밀번호", "ña"};
  constexpr std::string_view kGlue[] = {"：", "是", "は", "为", "—", ":", "=", "es ", "is "};
  for (const auto name : kNames) {
    if (!rest(at_).starts_with(name)) continue;
    if (name == "ña" && !text_.substr(0, at_).ends_with("contrase")) continue;
    std::size_t at = skip_blanks(at_ + name.size());
    const std::size_t before = at;
    for (const auto glue : kGlue) {
      if (!rest(at).starts_with(glue)) continue;
      at = skip_blanks(at + glue.size());
      break;
    }
    return at > before && judge(Name::kPassword, Glue::kVerb, value_at(at));
  }
  return false;
}

bool Scanner::header_value(std::size_t end) {
  std::size_t at = skip_blanks(skip_quote(end));
  if (peek(at) != ':' && peek(at) != '=') return false;
  at = skip_quote(skip_blanks(at + 1));
  const std::size_t scheme_end = word_end(at);
  const std::string scheme = lower_ascii(text_.substr(at, scheme_end - at));
  constexpr std::string_view kSchemes[] = {"bearer", "basic",  "token",    "apikey",
                                           "bot",    "digest", "negotiate"};
  const bool known =
      std::find(std::begin(kSchemes), std::end(kSchemes), scheme) != std::end(kSchemes);
  if (known && secret::is_blank(peek(scheme_end))) at = skip_blanks(scheme_end);
  const Value value = bare_value(at);
  const auto text = of(value);
  if (secret::is_stand_in(text) || text.size() < (known ? 4u : 8u)) return false;
  const auto traits = secret::traits_of(text);
  if (!traits.digit && !traits.upper && !traits.symbol && text.size() < 16) return false;
  return replace(value.begin, value.end, "token");
}

// "Bearer …" and "Basic …" without the header's name.
bool Scanner::scheme_value(std::size_t at, Name scheme) {
  const Value value = bare_value(at);
  const auto text = of(value);
  if (text.size() < 8 || secret::is_stand_in(text)) return false;
  if (scheme == Name::kBasic) {
    return secret::is_basic_credentials(text) && replace(value.begin, value.end, "token");
  }
  const auto traits = secret::traits_of(text);
  const bool upper_inside =
      std::any_of(text.begin() + 1, text.end(), [](char c) { return secret::is_upper(c); });
  return (traits.digit || upper_inside) && !secret::is_quantity(text) &&
         replace(value.begin, value.end, "token");
}

// curl -u name:password
bool Scanner::command_line_user(std::size_t begin, std::size_t end) {
  const auto word = text_.substr(begin, end - begin);
  if ((word != "u" && word != "user") || begin == 0 || text_[begin - 1] != '-') return false;
  const std::size_t from = begin > 300 ? begin - 300 : 0;
  if (text_.substr(from, begin - from).rfind("curl ") == std::string_view::npos) return false;
  const Value value = value_at(skip_blanks(end));
  const auto colon = of(value).find(':');
  if (colon == std::string_view::npos) return false;
  const auto password = of(value).substr(colon + 1);
  if (password.empty() || password[0] == '$' || secret::is_stand_in(password)) return false;
  return replace(value.begin + colon + 1, value.end, "password");
}

// mysql -uroot -ppassword: one word with its option, as these programs want it.
bool Scanner::command_line_password(std::size_t begin) {
  constexpr std::string_view kPrograms[] = {"mysql", "mariadb", "mysqldump", "mysqladmin",
                                            "sshpass"};
  if (begin < 2 || text_[begin] != 'p' || text_[begin - 1] != '-' ||
      !secret::is_blank(text_[begin - 2])) {
    return false;
  }
  const std::size_t from = begin > 300 ? begin - 300 : 0;
  const auto line = text_.substr(from, begin - 1 - from);
  const auto before = line.substr(line.find_last_of("\n;|&") + 1);  // npos + 1 is 0
  const bool named =
      std::any_of(std::begin(kPrograms), std::end(kPrograms), [&](std::string_view program) {
        return before.find(std::string(program) + ' ') != std::string_view::npos;
      });
  const Value value = bare_value(begin + 1);
  const auto password = of(value);
  if (!named || password.size() < 4 || password[0] == '$' || secret::is_stand_in(password)) {
    return false;
  }
  return replace(value.begin, value.end, "password");
}

// "the password for the db is …", "api key: …" is not here.
bool Scanner::in_prose(Name name, std::size_t end) {
  if (name == Name::kShortPassword || !secret::is_blank(peek(end))) return false;
  constexpr std::string_view kLinks[] = {"for", "of", "to", "on", "at", "in", "from", "code"};
  constexpr std::string_view kVerbs[] = {"is", "was", "equals", "are", "ist", "lautet", "war"};
  constexpr std::string_view kAfter[] = {"now",  "still",  "currently", "set",    "to",
                                         "just", "simply", "be",        "changed"};
  const auto in = [](const auto& list, std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
  };
  std::size_t at = skip_blanks(end);
  const std::size_t first = at;
  for (std::size_t words = 0; words < kPhraseMax && at < text_.size(); ++words) {
    std::size_t stop = at;
    while (stop < text_.size() && stop - at < 32 && static_cast<unsigned char>(text_[stop]) > ' ') {
      ++stop;
    }
    const std::string word = lower_ascii(text_.substr(at, stop - at));
    const bool verb = in(kVerbs, word) || (word == "is:") || word == "will";
    if (verb) {
      at = skip_blanks(stop);
      for (int i = 0; i < 3 && in(kAfter, lower_ascii(next_word(at))); ++i) {
        at = skip_blanks(word_end(at));
      }
      if (peek(at) == ':') at = skip_blanks(at + 1);
      return judge(name, Glue::kVerb, value_at(at));
    }
    if (words == 0 && !in(kLinks, word)) break;
    at = skip_blanks(stop);
  }
  // "password Tr0ub4dor&3", "set the password to hunter2".
  if (lower_ascii(next_word(first)) == "to") {
    return judge(name, Glue::kBlank, value_at(skip_blanks(word_end(first))));
  }
  return judge(name, Glue::kBlank, value_at(first));
}

bool Scanner::judge(Name name, Glue glue, Value value) {
  const auto text = of(value);
  if (text.size() < 3 || secret::is_stand_in(text)) return false;
  const auto traits = secret::traits_of(text);
  const bool call = !value.quoted && peek(value.end) == '(';
  if (call || (!value.quoted && secret::is_quantity(text))) return false;
  const bool digits_only = traits.digit && !traits.alpha() && !traits.symbol;
  if (digits_only && secret::is_unit(next_word(value.end))) return false;
  switch (name) {
    case Name::kPin: {
      const bool pin =
          digits_only && text.size() >= 4 && text.size() <= 8 && traits.longest == text.size();
      return pin && glue != Glue::kBlank && replace(value.begin, value.end, "pin");
    }
    case Name::kKey:
      return secret::is_random_token(text, glue == Glue::kBlank ? 24 : 20) &&
             replace(value.begin, value.end, "key");
    case Name::kToken: {
      if (glue == Glue::kBlank) {
        return secret::is_random_token(text, 16) && replace(value.begin, value.end, "token");
      }
      if (text.find(' ') != std::string_view::npos) return false;
      const bool mixed = traits.digit && traits.alpha();
      const bool spoken = glue == Glue::kVerb || (glue == Glue::kColon && !value.quoted);
      const bool strong = spoken ? mixed && (traits.mixed_run >= 6 || text.size() >= 16)
                                 : mixed && text.size() >= 6;
      const bool wordlike =
          !traits.digit && text.size() >= 16 && traits.other_case && traits.longest >= 16;
      return (strong || wordlike || (digits_only && text.size() >= 12)) &&
             replace(value.begin, value.end, "token");
    }
    default:
      break;
  }
  // Passwords.
  if (secret::is_comment(text)) return false;
  const bool hard = traits.digit || traits.symbol;
  bool is_password = false;
  if (glue == Glue::kBlank) {
    is_password =
        text.size() >= 6 && traits.digit && traits.alpha() && (traits.symbol || traits.other_case);
  } else if (glue == Glue::kTightEquals || glue == Glue::kFlag) {
    is_password = true;
  } else if (value.quoted) {
    is_password = glue != Glue::kVerb || text.size() >= 4;
  } else if (hard) {
    is_password = text.size() >= 4;
  } else {
    is_password = text.size() >= 4 && ends_clause(value.end);
  }
  return is_password && replace(value.begin, value.end, "password");
}

}  // namespace

std::string redact_secrets(std::string_view text, std::size_t& found) {
  std::string out(text);
  // What stands behind a replaced secret is read again, until nothing more is found: so the result
  // is a fixed point. More than two passes are the work of an adversary; eight bound it.
  for (int pass = 0; pass < 8; ++pass) {
    std::size_t more = 0;
    std::string next = Scanner(out).run(more);
    if (more == 0) break;
    found += more;
    out = std::move(next);
  }
  return out;
}

std::string redact_secrets(std::string_view text) {
  std::size_t found = 0;
  return redact_secrets(text, found);
}

bool holds_secret(std::string_view text) {
  std::size_t found = 0;
  (void)Scanner(text).run(found);
  return found > 0;
}

bool names_secret(std::string_view name) {
  const auto at = name.find_last_of(".-/ ");
  const std::size_t begin = at == std::string_view::npos ? 0 : at + 1;
  const Name kind = secret::classify_name(name.substr(begin), name.substr(0, begin));
  return kind == Name::kPassword || kind == Name::kShortPassword || kind == Name::kToken ||
         kind == Name::kPin;
}

bool key_holds_secret(std::string_view key) {
  if (holds_secret(key)) return true;
  const auto joins = [](char c) {
    return std::string_view("._:/ -").find(c) != std::string_view::npos;
  };
  std::string upper(key);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  for (std::size_t at = 0; at < key.size(); ++at) {
    if (at > 0 && !joins(key[at - 1])) continue;
    const std::string_view rest = key.substr(at);
    const auto end = std::find_if(rest.begin(), rest.end(), joins);
    const std::string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    if (secret::vendor_token(rest) > 0 || secret::is_random_token(word, 16)) return true;
    const std::string_view capitals = std::string_view(upper).substr(at, word.size());
    const bool digit = std::any_of(word.begin(), word.end(), secret::is_digit);
    if (digit && secret::vendor_token(capitals) > 0) return true;
    // What follows the name of a secret is its value.
    if (at == 0 || !names_secret(key.substr(0, at - 1))) continue;
    if (key[at - 1] != '_' || rest.starts_with("is_")) return true;
    const bool letter = std::any_of(word.begin(), word.end(), secret::is_alpha);
    if (digit && letter) return true;
  }
  return false;
}

}  // namespace clawmark
