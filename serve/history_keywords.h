#pragma once
// What a stretch of talk is about, in a few words: those that stand in many of its messages and in
// few others.

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/sqlite.h"

namespace clawmark {

class Keywords {
 public:
  void add(std::string_view text);  // one message
  // Best first. Rarity by the search index, where it answers.
  std::vector<std::string> best(Database& db, std::size_t count) const;

 private:
  struct Word {
    std::int64_t messages = 0;
    std::unordered_map<std::string, std::int64_t> spellings;
  };
  std::unordered_map<std::string, Word> words_;  // by token
};

}  // namespace clawmark
