#include "models/static_table.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/hash.h"

extern "C" {
extern const unsigned char clawmark_word_table[];
extern const std::uint64_t clawmark_word_table_bytes;
}

namespace clawmark {
namespace {

constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kSlots = 1u << 16;  // twice the words: short probe sequences

std::uint32_t read_u32(const unsigned char* at) {
  return static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8 |
         static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
}

// Words by hash, open addressing. Built once, from the linked bytes.
class WordTable {
 public:
  WordTable() : slots_(kSlots, kEmpty) {
    const unsigned char* const base = clawmark_word_table;
    if (std::memcmp(base, "CMWORDS1", 8) != 0 || read_u32(base + 12) != kWordDims) return;
    const std::uint32_t count = read_u32(base + 8);
    words_.reserve(count);
    std::size_t at = kHeaderBytes;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      const std::size_t length = base[at];
      words_.emplace_back(reinterpret_cast<const char*>(base + at + 1), length);
      at += 1 + length;
      std::size_t slot = slot_of(words_.back());
      while (slots_[slot] != kEmpty) slot = (slot + 1) % kSlots;
      slots_[slot] = rank;
    }
    at = (at + 15) / 16 * 16;
    if (at + count * kWordDims != clawmark_word_table_bytes) {
      words_.clear();
      slots_.assign(kSlots, kEmpty);
      return;
    }
    vectors_ = reinterpret_cast<const std::int8_t*>(base + at);
  }

  std::optional<WordEntry> find(std::string_view word) const {
    for (std::size_t slot = slot_of(word); slots_[slot] != kEmpty; slot = (slot + 1) % kSlots) {
      const std::uint32_t rank = slots_[slot];
      if (words_[rank] == word) return WordEntry{rank, {vectors_ + rank * kWordDims, kWordDims}};
    }
    return std::nullopt;
  }

  std::size_t size() const { return words_.size(); }

 private:
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFF;
  static std::size_t slot_of(std::string_view word) {
    const std::uint64_t hash = fnv1a(word);
    return static_cast<std::size_t>((hash ^ (hash >> 32)) % kSlots);
  }

  std::vector<std::string_view> words_;  // by rank
  std::vector<std::uint32_t> slots_;     // rank or kEmpty
  const std::int8_t* vectors_ = nullptr;
};

const WordTable& table() {
  static const WordTable instance;
  return instance;
}

}  // namespace

std::optional<WordEntry> find_word(std::string_view word) {
  return table().find(word);
}
std::size_t word_count() {
  return table().size();
}

}  // namespace clawmark
