// What the search index keeps of each message beside its words.

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/utf8.h"
#include "projections/rebuild.h"
#include "projections/search.h"
#include "projections/search_cues.h"
#include "projections/search_docs.h"
#include "projections/search_index.h"
#include "projections/tables.h"

namespace clawmark {
namespace {

constexpr double kSurelyTexts = 6;       // of each side, before a talk is judged by itself
constexpr double kAssistantTimes = 2.5;  // an assistant's texts are so many times a person's

struct Sides {
  double user_texts = 0, user_tokens = 0, agent_texts = 0, agent_tokens = 0;
};

// An agent that says about as much as the people do is one of them: two persons' history kept as
// two roles.
bool are_peers(const Sides& sides) {
  if (sides.user_texts < kSurelyTexts || sides.agent_texts < kSurelyTexts) return false;
  return sides.agent_tokens / sides.agent_texts <
         kAssistantTimes * sides.user_tokens / sides.user_texts;
}

}  // namespace

SearchDoc read_search_doc(const Statement& row) {
  constexpr int kFirst = kMessageColumnCount;
  if (row.is_null(kFirst)) return {};
  return {row.integer(kFirst), static_cast<unsigned>(row.integer(kFirst + 1)),
          row.integer(kFirst + 2), row.string(kFirst + 3)};
}

Result<MessageCues> CueReader::of(SearchDoc doc) {
  MessageCues out;
  if (doc.place < 0) return out;
  out.asks = (doc.cues & kCueAsks) != 0;
  out.names_time = (doc.cues & kCueTime) != 0;
  out.names_number = (doc.cues & kCueNumber) != 0;
  out.is_standing = (doc.cues & kCueStanding) != 0;
  out.prefers = (doc.cues & kCuePrefers) != 0;
  out.tokens = doc.tokens;
  out.speaker = std::move(doc.speaker);
  CLAWMARK_ASSIGN(out.among_peers, among_peers(talk_of_place(doc.place)));
  if (!out.among_peers) return out;  // where it would not count it is not looked for
  CLAWMARK_TRY(tables_.each(
      "SELECT cues, speaker FROM search_docs__g# WHERE place = ?1",
      [&](Statement& row) {
        const auto before = static_cast<unsigned>(row.integer(0));
        const bool other = ((before ^ doc.cues) & kCueAssistant) != 0 || row.text(1) != out.speaker;
        out.answers = other && (before & kCueAsks) != 0;
      },
      doc.place - 1));
  return out;
}

Result<bool> CueReader::among_peers(std::int64_t talk) {
  const auto [known, fresh] = peers_.try_emplace(talk, false);
  if (!fresh) return known->second;
  Sides sides;
  CLAWMARK_TRY(tables_.each(
      "SELECT user_texts, user_tokens, agent_texts, agent_tokens FROM search_talks__g# WHERE "
      "talk = ?1",
      [&](Statement& row) { sides = {row.real(0), row.real(1), row.real(2), row.real(3)}; }, talk));
  return known->second = are_peers(sides);
}

namespace {

Result<std::vector<FoundMessage>> with_cues(Database& db, std::span<const Seq> messages) {
  static const std::string kSelect = std::string("SELECT ") + kMessageColumns + kDocColumns +
                                     " FROM messages m LEFT JOIN search_docs__g# d ON d.message = "
                                     "m.seq WHERE m.seq = ?1";
  CLAWMARK_ASSIGN(const int generation, live_generation(db, "search"));
  Tables tables(db, "search", generation);
  CueReader reader(tables);
  std::vector<FoundMessage> out;
  out.reserve(messages.size());
  for (const Seq message : messages) {
    SearchDoc doc;
    const std::size_t before = out.size();
    CLAWMARK_TRY(tables.each(
        kSelect.c_str(),
        [&](Statement& row) {
          out.push_back({read_message_row(row), {}});
          doc = read_search_doc(row);
        },
        message.value));
    if (out.size() == before) continue;
    CLAWMARK_ASSIGN(out.back().cues, reader.of(std::move(doc)));
  }
  return out;
}

}  // namespace

Result<std::vector<FoundMessage>> found_messages(Database& db, std::span<const Seq> messages) {
  auto found = with_cues(db, messages);
  if (found.ok()) return found;
  CLAWMARK_ASSIGN(auto rows, read_messages(db, messages));
  std::vector<FoundMessage> out;
  for (MessageRow& row : rows) out.push_back({std::move(row), {}});
  return out;
}

QueryCues query_cues(std::string_view text) {
  const std::string lower = lower_ascii(text);
  const std::string_view words = trim(lower);
  const auto holds = [&](std::string_view phrase) {
    for (std::size_t at = words.find(phrase); at != std::string_view::npos;
         at = words.find(phrase, at + 1)) {
      const bool starts = at == 0 || words[at - 1] == ' ';
      const std::size_t end = at + phrase.size();
      if (starts && (end == words.size() || !(words[end] >= 'a' && words[end] <= 'z'))) return true;
    }
    return false;
  };
  QueryCues out;
  out.asks_when = words.starts_with("when ") || holds("what date") || holds("what day") ||
                  holds("which day") || holds("what year") || holds("which year") ||
                  holds("what month") || holds("which month") || holds("what time") ||
                  holds("how long ago") || holds("since when");
  out.asks_how_many = holds("how many") || holds("how much") || holds("how often") ||
                      holds("how long") || holds("how old");
  out.asks_agent = holds("did you") || holds("have you") || holds("had you") ||
                   holds("you recommended") || holds("you suggested") || holds("you said") ||
                   holds("you told") || holds("you gave") || holds("you mentioned") ||
                   holds("you advised") || holds("you explained") || holds("you proposed") ||
                   holds("your suggestion") || holds("your suggestions") ||
                   holds("your recommendation") || holds("your recommendations") ||
                   holds("your advice") || holds("your explanation");
  return out;
}

}  // namespace clawmark
