#pragma once
// A message cut into sentences, without code and quoted passages.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark::rules {

struct Sentence {
  std::size_t begin = 0, end = 0;  // bytes
  bool is_question = false;
};

// The message with code blocks, quoted lines and long quoted passages overwritten by blanks or line
// ends: every offset stays.
std::string masked_text(std::string_view message);
std::vector<Sentence> split_sentences(std::string_view text);

}  // namespace clawmark::rules
