#pragma once
// UTF-8 without locale. "Characters" are code points everywhere in this project.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace clawmark {

constexpr char32_t kReplacement = 0xFFFD;

// Decodes the code point at `at` and moves past it. Malformed input gives U+FFFD and moves one byte
// past the bad prefix (Unicode 15, table 3-8: maximal subpart).
char32_t next_code_point(std::string_view text, std::size_t& at);
void append_code_point(std::string& out, char32_t code_point);

bool is_valid_utf8(std::string_view text);
// Replaces every ill-formed sequence by U+FFFD; valid input comes back unchanged.
std::string to_valid_utf8(std::string_view text);
std::size_t count_code_points(std::string_view text);

// The longest prefix of at most so many bytes (or code points) that ends between code points.
std::string_view prefix_bytes(std::string_view text, std::size_t bytes_max);
std::string_view prefix_code_points(std::string_view text, std::size_t count_max);
// The same from the end.
std::string_view suffix_bytes(std::string_view text, std::size_t bytes_max);

bool is_space(char32_t c);
std::string_view trim(std::string_view text);       // ASCII white space only
std::string collapse_space(std::string_view text);  // runs of white space to one blank, trimmed
std::string lower_ascii(std::string_view text);
std::string fold_case(std::string_view text);                         // NFKC case folding (ICU)
bool starts_with_ci(std::string_view text, std::string_view prefix);  // ASCII case

// Shell-style glob over the whole string: '*' any run, '?' one byte. Linear time.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace clawmark
