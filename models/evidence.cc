#include "models/evidence.h"

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "models/static_table.h"
#include "models/text_words.h"

namespace clawmark {
namespace {

constexpr std::size_t kQuoteMin = 2;        // code points; less stands everywhere
constexpr std::uint32_t kCommonRank = 400;  // words so frequent say nothing about support

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

// Where `part` stands in `text` with whole words at its ends (ASCII; other scripts need no gap);
// npos: nowhere.
std::size_t find_words(std::string_view text, std::string_view part) {
  if (part.empty()) return std::string_view::npos;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    const std::size_t end = at + part.size();
    const bool starts = at == 0 || !is_word_byte(text[at - 1]) || !is_word_byte(part.front());
    const bool ends = end == text.size() || !is_word_byte(text[end]) || !is_word_byte(part.back());
    if (starts && ends) return at;
  }
  return std::string_view::npos;
}

std::string folded(std::string_view text) {
  return collapse_space(fold_case(text));
}

const WindowMessage* find_message(std::span<const WindowMessage> window, std::int64_t message) {
  const auto found = std::find_if(window.begin(), window.end(),
                                  [&](const WindowMessage& m) { return m.message == message; });
  return found == window.end() ? nullptr : &*found;
}

// Words that can carry a claim, stemmed; unspaced scripts as pairs of letters.
std::set<std::string> claim_words(std::string_view text) {
  std::set<std::string> words;
  const std::string lower = fold_for_words(text);
  for (const TextWord& word : split_words(lower)) {
    if (word.kind == WordKind::kUnspaced) {
      std::size_t previous = word.text.size();
      for (std::size_t at = 0; at < word.text.size();) {
        const std::size_t start = at;
        next_code_point(word.text, at);
        if (previous < start) words.emplace(word.text.substr(previous, at - previous));
        previous = start;
      }
      continue;
    }
    const auto entry = find_word(word.text);
    if (word.kind == WordKind::kLetters && entry && entry->rank < kCommonRank) continue;
    words.insert(light_stem(word.text));
  }
  return words;
}

// Names and numbers in a value: what cannot be a paraphrase. Dates are, they are resolved.
std::set<std::string> hard_words(std::string_view value) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t start = value.find_first_not_of(" \t\n,;()\"", at);
    if (start == std::string_view::npos) break;
    at = std::min(value.find_first_of(" \t\n,;()\"", start), value.size());
    const std::string_view token = value.substr(start, at - start);
    const bool has_digit = token.find_first_of("0123456789") != std::string_view::npos;
    const bool is_date = has_digit && token.find_first_of("-:+/") != std::string_view::npos;
    const bool is_name = token[0] >= 'A' && token[0] <= 'Z';
    if (is_date || (!has_digit && !is_name)) continue;
    for (const std::string& word : claim_words(token)) words.insert(word);
  }
  for (const std::string_view common :
       {"user", "pref", "prefer", "lik", "dislik", "yes", "no", "want"}) {
    words.erase(std::string(common));
  }
  return words;
}

bool meet(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); });
}

// What was said in the window: by people, and by everything else.
struct Said {
  std::set<std::string> people, others;
};

Said said_in(std::span<const WindowMessage> window) {
  Said said;
  for (const WindowMessage& message : window) {
    auto words = claim_words(message.text);
    (is_person(message) ? said.people : said.others).merge(words);
  }
  return said;
}

// Why the value is not supported; empty: it is. A true quote must not carry in what only a tool or
// the model said.
std::string unsupported(std::string_view value, const Said& said) {
  const std::set<std::string> claims = claim_words(value);
  const std::set<std::string> hard = hard_words(value);
  if (!claims.empty() && !meet(claims, said.people)) {
    if (meet(claims, said.others)) return "only assistant or tool text says it";
    if (!hard.empty()) return "nobody said the value";
    return {};
  }
  const bool planted = std::any_of(hard.begin(), hard.end(), [&](const std::string& word) {
    return !said.people.contains(word) && said.others.contains(word);
  });
  return planted ? "a name or number in it stands only in assistant or tool text" : "";
}

std::string why_not(const Evidence& evidence, std::span<const WindowMessage> window) {
  const WindowMessage* message = find_message(window, evidence.message);
  if (message == nullptr) return "cites a message outside the window";
  if (!is_person(*message)) return "cites a message that is not a person's";
  const std::string quote = folded(evidence.quote);
  if (count_code_points(quote) < kQuoteMin) return "no quote";
  if (find_words(folded(message->text), quote) == std::string::npos) {
    return "the quote does not stand in the message";
  }
  return {};
}

void verify(ExtractedFact& fact, std::span<const WindowMessage> window, const Said& said) {
  fact.verified = false;
  fact.why = fact.evidence.empty() ? "no evidence" : "";
  const WindowMessage* newest = nullptr;
  std::vector<Evidence> good;
  for (const Evidence& evidence : fact.evidence) {
    if (std::string why = why_not(evidence, window); !why.empty()) {
      fact.why = std::move(why);
      continue;
    }
    const WindowMessage* message = find_message(window, evidence.message);
    if (newest != nullptr && newest->sender != message->sender) {
      fact.why = "the quotes are of several people";
      return;
    }
    if (newest == nullptr || message->at > newest->at) newest = message;
    good.push_back(evidence);
  }
  if (newest == nullptr) return;
  if (fact.why = unsupported(fact.value, said); !fact.why.empty()) return;
  fact.verified = true;
  fact.evidence = std::move(good);
  fact.observed = newest->at;
  fact.subject = newest->sender;
}

}  // namespace

bool is_person(const WindowMessage& message) {
  if (message.role != "user" || message.is_bot) return false;
  const auto named_bot = [](std::string_view name) { return lower_ascii(name).ends_with("bot"); };
  return !named_bot(message.speaker) && !named_bot(message.sender);
}

void find_evidence(ExtractedFact& fact, std::span<const WindowMessage> window) {
  const bool cited = std::any_of(fact.evidence.begin(), fact.evidence.end(), [](const Evidence& e) {
    return e.message != 0 && !e.quote.empty();
  });
  if (cited) return;
  std::string wanted = fact.value;
  for (const Evidence& evidence : fact.evidence) {
    if (!evidence.quote.empty()) wanted = evidence.quote;
  }
  const std::string needle = lower_ascii(trim(wanted));
  if (count_code_points(needle) < kQuoteMin) return;
  for (auto message = window.rbegin(); message != window.rend(); ++message) {
    if (!is_person(*message)) continue;
    const std::size_t at = find_words(lower_ascii(message->text), needle);
    if (at == std::string::npos) continue;
    fact.evidence = {{message->message, message->text.substr(at, needle.size())}};
    return;
  }
}

void verify_evidence(std::span<ExtractedFact> facts, std::span<const WindowMessage> window) {
  if (facts.empty()) return;
  const Said said = said_in(window);
  for (ExtractedFact& fact : facts) verify(fact, window, said);
}

}  // namespace clawmark
