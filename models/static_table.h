#pragma once
// The table of English word vectors that is linked into the program (models/data/README.md).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace clawmark {

constexpr std::size_t kWordDims = 100;

struct WordEntry {
  std::uint32_t rank = 0;               // 0: the most frequent word
  std::span<const std::int8_t> vector;  // kWordDims values, common direction removed
};

// The entry of a word in lower case; nullopt: not among the 30,000. Safe from several threads.
std::optional<WordEntry> find_word(std::string_view word);
std::size_t word_count();

}  // namespace clawmark
