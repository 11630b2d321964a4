// rc_grep by words: what people said, best first, by the index of words; then what tools answered,
// newest first, by signatures.

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "base/limits_history.h"
#include "base/utf8.h"
#include "projections/history_grams.h"
#include "projections/search.h"
#include "serve/history_grep.h"
#include "serve/quote.h"
#include "serve/terms.h"

namespace clawmark {
namespace {

constexpr std::size_t kRankedMax = 500;  // hits by words that can be paged through
constexpr std::size_t kToolWordMin = 3;  // bytes: shorter words have no signature
constexpr std::size_t kToolWordsMax = 16;
constexpr std::int64_t kLexicalShareMs = 400;

// The words of a pattern, without those that say nothing.
std::vector<std::string> words_of(const std::string& pattern) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < pattern.size() && words.size() < kToolWordsMax;) {
    const std::size_t end = std::min(pattern.find_first_of(" \t\n\"", at), pattern.size());
    std::string word = pattern.substr(at, end - at);
    if (!word.empty() && !is_stop_word(lower_ascii(word))) words.push_back(std::move(word));
    at = end + 1;
  }
  return words;
}

// Messages that may hold all these words, newest first.
Result<GramScan> tool_candidates(Grep& grep, const std::vector<std::string>& words) {
  std::vector<GramNeedle> needles(words.begin(), words.end());
  const GramTest test = [&](std::span<const std::uint8_t> signature) {
    return std::all_of(needles.begin(), needles.end(),
                       [&](const GramNeedle& needle) { return needle.may_be_in(signature); });
  };
  const TimeMs before = grep.range.before.value == 0 ? TimeMs{INT64_MAX} : grep.range.before;
  if (!grep.place.scope.sessions) {
    return scan_grams(grep.context.db, {test, grep.range.since, before, grep.stop(), {}});
  }
  GramScan out;
  CLAWMARK_ASSIGN(auto entries, history_entries(grep.context.db, grep.place.scope));
  std::erase_if(entries, [&](const HistoryEntry& entry) {
    return entry.role != "tool" || entry.at < grep.range.since || entry.at >= before;
  });
  CLAWMARK_ASSIGN(entries, filter_by_grams(grep.context.db, std::move(entries), test));
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    out.candidates.push_back({entry->message, entry->at});
  }
  return out;
}

// Where all these words stand in a text: the place of the last one.
class WordsFinder {
 public:
  explicit WordsFinder(const std::vector<std::string>& words) {
    RE2::Options literal;
    literal.set_literal(true);
    literal.set_case_sensitive(false);
    for (const std::string& word : words) {
      finders_.push_back(std::make_unique<RE2>(word, literal));
    }
  }
  std::optional<PatternMatch> find(const std::string& text) const {
    re2::StringPiece match;
    const re2::StringPiece whole(text);
    for (const auto& finder : finders_) {
      if (!finder->Match(whole, 0, whole.size(), RE2::UNANCHORED, &match, 1)) return {};
    }
    const auto begin = static_cast<std::size_t>(match.data() - whole.data());
    return PatternMatch{begin, begin + match.size()};
  }

 private:
  std::vector<std::unique_ptr<RE2>> finders_;
};

// Tool results are not in the word index: those that hold all words, newest first, behind what
// people said. `after`: of the page before.
Status grep_tool_results(Grep& grep, const std::optional<Cursor>& after) {
  const auto words = words_of(grep.pattern);
  if (words.empty()) return Ok{};
  if (std::any_of(words.begin(), words.end(),
                  [](const std::string& word) { return word.size() < kToolWordMin; })) {
    grep.notes.emplace_back(
        "Results of tools were not searched: a word is too short; a regular expression finds it.");
    return Ok{};
  }
  if (after) grep.range.before = {after->at.value + 1};
  CLAWMARK_ASSIGN(const GramScan scan, tool_candidates(grep, words));
  const WordsFinder finder(words);
  const auto& candidates = scan.candidates;
  std::size_t at = 0, looked = 0;
  while (after && at < candidates.size() && candidates[at].at == after->at &&
         candidates[at].message >= after->message) {
    ++at;
  }
  const std::size_t first = at;
  while (at < candidates.size() && grep.hits.size() < grep.limit && looked < kGrepToolTexts &&
         (at == first || !grep.late())) {
    std::vector<Seq> tools;
    const std::size_t end = std::min(candidates.size(), at + kGrepBatch);
    std::vector<std::size_t> places;
    for (std::size_t i = at; i < end; ++i) {
      CLAWMARK_ASSIGN(const auto row,
                      history_row(grep.context.db, grep.place.scope, candidates[i].message));
      if (!row || row->role != "tool") continue;
      tools.push_back(candidates[i].message);
      places.push_back(i);
    }
    looked += tools.size();
    CLAWMARK_ASSIGN(auto texts, history_texts(grep.context, grep.place.scope, tools,
                                              std::max<std::int64_t>(grep.left_ms(), 50)));
    at = end;
    for (HistoryText& text : texts) {
      const auto match = text.text ? finder.find(*text.text) : std::nullopt;
      if (!text.text) ++grep.unreadable;
      if (!match) continue;
      grep.hits.push_back({text, snippet_at(*text.text, *match), 0});
      if (grep.hits.size() < grep.limit) continue;
      const auto place = std::find(tools.begin(), tools.end(), text.row.message) - tools.begin();
      at = places[static_cast<std::size_t>(place)] + 1;
      break;
    }
  }
  if (at == candidates.size() && scan.left == 0) return Ok{};
  const GramCandidate& last = at < candidates.size() && at > 0 ? candidates[at - 1] : scan.reached;
  grep.next = "t" + Cursor{last.at, last.message}.text();
  if (grep.hits.size() < grep.limit) {
    grep.notes.emplace_back("Stopped at a limit: not all results of tools were looked at.");
  }
  return Ok{};
}

}  // namespace

Status grep_words(Grep& grep) {
  if (grep.cursor.starts_with('t')) {  // all that people said was shown
    const auto after = parse_cursor(std::string_view(grep.cursor).substr(1));
    return !after || after->by_number ? bad_cursor() : grep_tool_results(grep, after);
  }
  std::int64_t skipped = 0;
  if (!grep.cursor.empty() && (!parse_whole(grep.cursor, skipped) || skipped < 0 ||
                               skipped > static_cast<std::int64_t>(kRankedMax))) {
    return bad_cursor();
  }
  const auto offset = static_cast<std::size_t>(skipped);
  LexicalQuery query;
  query.text = grep.pattern;
  query.zone = grep.context.serving.config()->timezone;
  query.agent = grep.place.scope.agent;
  query.audiences = grep.place.scope.audiences;
  query.limit = std::min(kRankedMax, offset + grep.limit + 1);
  query.deadline_ms = std::min(kLexicalShareMs, std::max<std::int64_t>(grep.left_ms(), 1));
  query.clock = &grep.context.serving.clock;
  query.since = grep.range.since;
  query.before = grep.range.before;
  query.sessions = grep.place.scope.sessions;
  CLAWMARK_ASSIGN(const auto found, lexical_search(grep.context.db, query));
  if (!found.degraded.empty()) grep.notes.push_back(found.degraded + ".");
  if (found.cut) {
    grep.notes.emplace_back("The words are so common that not all hits were ranked in time.");
  }
  std::vector<Seq> page;
  std::unordered_map<std::int64_t, double> scores;
  for (std::size_t i = offset; i < found.hits.size() && page.size() < grep.limit; ++i) {
    page.push_back(found.hits[i].message);
    scores[found.hits[i].message.value] = found.hits[i].score;
  }
  if (found.hits.size() > offset + grep.limit) grep.next = std::to_string(offset + grep.limit);
  if (offset + grep.limit >= kRankedMax && found.hits.size() >= kRankedMax) {
    grep.notes.push_back("By words the best " + std::to_string(kRankedMax) +
                         " can be paged through; there may be more: narrow it with since and "
                         "before, or use a regular expression.");
  }
  const QueryTerms terms(grep.pattern);
  CLAWMARK_ASSIGN(auto texts, history_texts(grep.context, grep.place.scope, page,
                                            std::max<std::int64_t>(grep.left_ms(), 50)));
  for (HistoryText& text : texts) {
    if (!text.text) {
      ++grep.unreadable;
      continue;
    }
    std::string snippet = quote_inline(excerpt_around(*text.text, terms, kSnippetMax));
    const double score = scores[text.row.message.value];
    grep.hits.push_back({std::move(text), std::move(snippet), score});
  }
  if (!grep.next.empty()) return Ok{};
  if (grep.hits.size() >= grep.limit) {
    // Whether there are any is looked up when they are asked for.
    grep.next = "t" + Cursor{{INT64_MAX - 1}, {INT64_MAX}}.text();
    return Ok{};
  }
  if (const Status tools = grep_tool_results(grep, std::nullopt); !tools.ok()) {
    grep.notes.emplace_back("Results of tools were not searched.");
  }
  return Ok{};
}

}  // namespace clawmark
