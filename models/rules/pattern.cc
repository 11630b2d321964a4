#include "models/rules/pattern.h"

#include <algorithm>

namespace clawmark::rules {

Pattern::Pattern(std::string_view text) {  // `text` is a literal: parts point into it
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view token = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (token.empty()) continue;
    Part part;
    if (token == "*") {
      part.kind = Part::kRest;
    } else if (token == "$") {
      part.kind = Part::kEnd;
    } else if (token[0] == '{') {
      part.kind = Part::kSome;
      part.most = static_cast<std::size_t>(token[1] - '0');
    } else {
      part.optional = token.ends_with('?');
      if (part.optional) token.remove_suffix(1);
      while (!token.empty()) {
        const std::size_t bar = std::min(token.find('|'), token.size());
        part.words.push_back(token.substr(0, bar));
        token.remove_prefix(std::min(bar + 1, token.size()));
      }
    }
    parts_.push_back(std::move(part));
  }
}

std::optional<Match> Pattern::match(const std::vector<Word>& words, std::size_t from) const {
  Match match;
  if (!step(words, 0, from, match)) return std::nullopt;
  return match;
}

bool Pattern::step(const std::vector<Word>& words, std::size_t part, std::size_t at,
                   Match& match) const {
  if (part == parts_.size()) {
    match.end = at;
    return true;
  }
  const Part& want = parts_[part];
  const bool ends = at >= words.size() || words[at].is_pause;
  switch (want.kind) {
    case Part::kEnd:
      return ends && step(words, part + 1, at, match);
    case Part::kRest: {
      std::size_t last = at;
      while (last < words.size() && !words[last].is_pause) ++last;
      if (last == at) return false;
      match.captures.push_back({at, last});
      if (step(words, part + 1, last, match)) return true;
      match.captures.pop_back();
      return false;
    }
    case Part::kSome:
      for (std::size_t n = 1; n <= want.most && at + n <= words.size(); ++n) {
        if (words[at + n - 1].is_pause) return false;
        match.captures.push_back({at, at + n});
        if (step(words, part + 1, at + n, match)) return true;
        match.captures.pop_back();
      }
      return false;
    case Part::kWord: {
      const bool here = !ends && std::find(want.words.begin(), want.words.end(), words[at].lower) !=
                                     want.words.end();
      if (here && step(words, part + 1, at + 1, match)) return true;
      return want.optional && step(words, part + 1, at, match);
    }
  }
  return false;
}

}  // namespace clawmark::rules
