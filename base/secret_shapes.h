#pragma once
// What secrets look like, without their surroundings; used by base/secrets alone.

#include <cstddef>
#include <string>
#include <string_view>

namespace clawmark::secret {

bool is_digit(char c);
bool is_alpha(char c);
bool is_upper(char c);
bool is_lower(char c);
bool is_word(char c);   // ASCII letter, digit or '_'
bool is_blank(char c);  // blank or tab

// What a name says of the value that follows it.
enum class Name {
  kNone,
  kPassword,       // "password", "DB_PASSWORD", "passphrase"
  kShortPassword,  // "pw", "pass": words that mean other things in prose
  kToken,          // "token", "client_secret", "api_key"
  kKey,            // "key" of any sort: only a long random value counts
  kPin,
  kAuthorization,
  kBearer,
  kBasic,
};
// `word` is a run of is_word; `before` the text before it (looked at for "api key").
Name classify_name(std::string_view word, std::string_view before);

// Bytes of a token with a known vendor's prefix, or of a JWT, at the start of `text`; 0: none.
std::size_t vendor_token(std::string_view text);
std::size_t jwt(std::string_view text);
std::size_t chat_bot_token(std::string_view text);   // 123456789:AA…
std::size_t card_number(std::string_view text);      // by Luhn and issuer range
bool is_basic_credentials(std::string_view base64);  // decodes to "user:password"

struct Traits {
  bool digit = false, upper = false, lower = false;
  bool symbol = false;        // other than - _ . /
  bool other_case = false;    // an upper-case letter after the first byte, and a lower-case one
  std::size_t longest = 0;    // run of letters and digits
  std::size_t mixed_run = 0;  // longest such run that holds both
  bool alpha() const { return upper || lower; }
};
Traits traits_of(std::string_view value);

bool is_uuid(std::string_view value);
bool is_random_token(std::string_view value, std::size_t length_min);
// "12-character", "30min", "3rd": a number with its unit.
bool is_quantity(std::string_view value);
bool is_unit(std::string_view word);
// $VAR, ${VAR}, <your-token>, {{x}}, ****, xxxx, user.password, null, required, …
bool is_stand_in(std::string_view value);
// Says something about a password instead of being one: "wrong", "required", "must be 12 long".
bool is_comment(std::string_view text);

}  // namespace clawmark::secret
