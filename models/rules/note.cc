// "Remember that …": kept as it was said, under a key made of its subject.

#include <algorithm>

#include "models/fact_key.h"
#include "models/rules/context.h"
#include "models/rules/dates.h"
#include "models/rules/lexicon.h"

namespace clawmark::rules {
namespace {

constexpr std::size_t kNoteWordsMax = 40;

bool is_verb(const Context& context, std::size_t at) {
  return context.is(
      at,
      {"is",    "are",   "isn't",   "aren't",   "go",       "goes",  "has",     "have",   "lives",
       "runs",  "uses",  "use",     "needs",    "need",     "must",  "should",  "can",    "can't",
       "will",  "won't", "belongs", "belong",   "likes",    "wants", "works",   "starts", "ends",
       "costs", "takes", "means",   "requires", "contains", "don't", "doesn't", "gets",   "get",
       "stay",  "stays", "=",       "happens",  "happen",   "come",  "comes",   "live"});
}

}  // namespace

bool find_note(const Context& context) {
  const auto& words = context.words();
  if (!context.clause.is_explicit || words.size() < 3 || words.size() > kNoteWordsMax) return false;
  // "remember to call mum", "remember when we …", "remember me": no lasting statement.
  if (context.is(0, {"to", "when", "how", "me", "us", "this", "that", "it", "what", "you", "your",
                     "the", "those"}) &&
      !(context.is(0, {"the"}) && words.size() > 3)) {
    return false;
  }
  // General wisdom and talk to the listener are no facts: something of one's own, a named thing or
  // a name must be in it.
  bool concrete = context.is(0, {"my", "i", "i'm", "i've", "our", "we", "the"});
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (context.is(at, {"you", "your", "you're", "yourself", "me"})) return false;
    concrete = concrete || (at > 0 && is_hard(words[at]));
  }
  if (!concrete || context.is(0, {"even", "just", "it's", "it"})) return false;
  const bool own = context.is(0, {"my", "i", "i'm", "i've"});
  std::size_t first = context.is(0, {"my", "i", "our", "we", "the", "a", "an"}) ? 1 : 0;
  std::size_t verb = first + 1;
  while (verb < words.size() && verb < first + 6 && !is_verb(context, verb)) ++verb;
  const bool found = verb < words.size() && is_verb(context, verb) && verb > first && !own;
  const Span subject = found ? Span{first, verb} : Span{first, std::min(words.size(), first + 6)};
  const std::string segment = object_key(context, subject);
  const std::string value(context.text({0, words.size()}));
  if (segment.empty()) return false;
  // "write dates as 24 November": an example is no date of the note's own.
  bool example = false;
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    const char c = words[at + 1].lower.front();
    example = example || (context.is(at, {"as", "like"}) && c >= '0' && c <= '9');
  }
  auto date = find_date(context.clause, 0, context.said, context.zone);
  if (example) date.reset();
  context.add(key_under(own     ? "user.note_"
                        : found ? "project."
                                : "project.note_",
                        segment),
              date ? value + " (" + date->text + ")" : value, kPlain,
              date ? std::optional(date->at) : std::nullopt);
  return true;
}

}  // namespace clawmark::rules
