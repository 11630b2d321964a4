// People, projects, files, and what must be kept to.

#include <algorithm>

#include "base/utf8.h"
#include "models/graph/rules.h"
#include "models/rules/lexicon.h"
#include "models/rules/pattern.h"
#include "models/rules/sentences.h"

namespace clawmark::graph_rules {
namespace {

using rules::Pattern;

constexpr std::string_view kExtensions[] = {
    "py",  "js",  "mjs",  "ts",   "tsx",  "jsx", "cc",    "cpp",  "c",    "h",  "hpp",
    "rs",  "go",  "java", "rb",   "php",  "sh",  "sql",   "html", "css",  "md", "txt",
    "csv", "tsv", "json", "yaml", "yml",  "xml", "toml",  "ini",  "conf", "db", "log",
    "pdf", "svg", "png",  "jpg",  "lock", "env", "ipynb", "docx", "xlsx"};

bool is_file_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '/' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

bool is_file_name(std::string_view token) {
  const auto dot = token.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 >= token.size()) return false;
  if (token.find("//") != std::string_view::npos) return false;  // an address
  const std::string ending = lower_ascii(token.substr(dot + 1));
  const bool known =
      std::find(std::begin(kExtensions), std::end(kExtensions), ending) != std::end(kExtensions);
  const char before = token[dot - 1];
  return known && before != '.' && before != '/';
}

// The name that ends a clause: "Gregor Hahn and comes on …" → "Gregor Hahn".
std::string name_from(const Context& context, Span span) {
  const auto& words = context.words();
  std::size_t last = span.first;
  while (last < span.last && !words[last].is_pause && words[last].is_capital &&
         last < span.first + 3)
    ++last;
  return last == span.first ? std::string() : std::string(context.text({span.first, last}));
}

// "the carpenter", "our client", "my sister": someone with a name. Servers, networks and dogs have
// one, too.
bool is_person_word(const Context& context, Span span) {
  const std::string& noun = context.words()[span.last - 1].lower;
  if (context.is(span.last - 1, {"cat", "dog", "puppy", "kitten", "hamster", "rabbit", "parrot",
                                 "horse", "bird", "fish", "company", "team"})) {
    return false;
  }
  return rules::is_trade(noun) || rules::is_relative(noun) ||
         context.is(span.last - 1,
                    {"client",    "customer",   "contact",   "landlord", "landlady",   "neighbour",
                     "neighbor",  "supplier",   "assistant", "intern",   "director",   "actor",
                     "actress",   "singer",     "coach",     "trainer",  "owner",      "lead",
                     "secretary", "treasurer",  "builder",   "painter",  "plumber",    "gardener",
                     "cleaner",   "printer's",  "guide",     "vet",      "host",       "speaker",
                     "person",    "woman",      "man",       "girl",     "boy",        "lady",
                     "guy",       "maintainer", "reviewer",  "tester",   "technician", "operator"});
}

// "remember that seats F1 and F2 are closed", not "remember that time in Rome": something is said
// of something that can be told apart.
bool is_lasting_statement(const Context& context) {
  const auto& words = context.words();
  const bool told = context.is(0, {"you"}) &&
                    context.is(1, {"must", "may", "should", "can't", "shouldn't", "need"});
  bool concrete = context.is(0, {"my", "i", "i'm", "i've", "our", "we", "we're", "the"}) || told;
  bool order = context.is(0, {"always", "never", "no", "don't"});
  for (std::size_t at = 0; at < words.size(); ++at) {
    if (!told && context.is(at, {"you", "your", "you're", "yourself", "me"})) return false;
    concrete = concrete || ((at > 0 || !context.clause.is_first || words[0].is_capital) &&
                            rules::is_hard(words[at]));
  }
  if (context.is(0, {"to", "when", "how", "what", "why", "who", "me", "us", "even", "just", "it's",
                     "it"})) {
    return false;
  }
  if (rules::is_deictic(words.back().lower)) return false;
  const std::size_t noun = context.is(0, {"the", "our", "my"}) ? 1 : 0;
  const bool moment =
      context.is(noun, {"time", "times", "day", "days", "night", "evening", "morning", "summer",
                        "winter", "weekend", "trip", "moment", "year", "party", "holiday"});
  bool says = false;
  for (std::size_t at = noun + 1; at < words.size(); ++at) {
    says = says || context.is(at, {"is", "are", "isn't", "aren't", "must", "may", "has", "starts",
                                   "ends", "needs", "costs"});
  }
  return (concrete || order) && (!moment || says);
}

bool is_product_word(const Context& context, Span span) {
  for (std::size_t at = span.first; at < span.last; ++at) {
    if (context.is(at, {"project", "app", "application", "shop", "site", "website", "service",
                        "tool", "product", "system", "game", "library", "bot"})) {
      return true;
    }
  }
  return false;
}

bool add_project(Reading& reading, const Context& context, Span what, Span named) {
  const std::string name = name_from(context, named);
  if (name.empty()) return false;
  GraphNode& node = add_node(reading, "project", name, rules::kOutright);
  if (const std::string alias = thing(context, what, 3); !alias.empty()) node.aliases = {alias};
  return true;
}

}  // namespace

bool find_project(Reading& reading, const Context& context) {
  static const Pattern kCodeName("the|our code name|codename? of|for? the|our {3} is *");
  static const Pattern kCodename("the|our codename of|for the|our {3} is *");
  static const Pattern kCalled("the|our {3} is called|named *");
  static const Pattern kRepository("the|our repository|repo is|lives at|in|now|called|named? *");
  for (const Pattern* pattern : {&kCodeName, &kCodename}) {
    if (const auto match = pattern->match(context.words())) {
      return add_project(reading, context, match->captures[0], match->captures[1]);
    }
  }
  if (const auto match = kCalled.match(context.words());
      match && is_product_word(context, match->captures[0])) {
    return add_project(reading, context, match->captures[0], match->captures[1]);
  }
  if (const auto match = kRepository.match(context.words())) {
    const std::string name = thing(context, match->captures[0], 2);
    if (name.find('/') == std::string::npos) return false;
    add_node(reading, "component", name, rules::kOutright);
    return true;
  }
  return false;
}

bool find_person(Reading& reading, const Context& context) {
  static const Pattern kMe("my name is|'s *");
  static const Pattern kIm("i'm *");
  static const Pattern kCalled("the|our|my {3} is called|named *");
  if (const auto match = kCalled.match(context.words())) {
    const std::string name = name_from(context, match->captures[1]);
    if (name.empty() || !is_person_word(context, match->captures[0])) return false;
    if (name.find_first_of("0123456789") != std::string::npos) return false;
    GraphNode& node = add_node(reading, "person", name, rules::kPlain);
    if (const std::string role = thing(context, match->captures[0], 3); !role.empty()) {
      node.aliases = {role};
    }
    return true;
  }
  const auto me = kMe.match(context.words());
  const auto im = me ? std::nullopt : kIm.match(context.words());
  if (!me && !im) return false;
  const Span rest = me ? me->captures.back() : im->captures.back();
  const std::string name = name_from(context, rest);
  if (name.empty()) return false;
  const std::string& speaker = reading.message.speaker;
  const bool same = lower_ascii(speaker).starts_with(lower_ascii(name) + " ");
  // "I'm German" names nobody: only when the host knows the speaker by that name.
  if (im && !same && lower_ascii(speaker) != lower_ascii(name)) return false;
  GraphNode& node = add_node(reading, "person", same ? speaker : name, rules::kOutright);
  if (same) node.aliases = {name};
  return true;
}

bool find_constraint(Reading& reading, const Context& context) {
  static const Pattern kNo("no {2} $");
  const auto& words = context.words();
  const std::string whole(context.text({0, words.size()}));
  const bool points_away = std::any_of(words.begin(), words.end(), [](const rules::Word& word) {
    return word.lower == "it" || word.lower == "this" || word.lower == "that" ||
           word.lower == "them" || word.lower == "here" || word.lower == "you";
  });
  if (context.clause.is_explicit) {
    if (words.size() < 3 || (rules::is_deictic(words[0].lower) && words[0].lower != "you")) {
      return false;
    }
    if (!is_lasting_statement(context)) return false;
    // "…, never as numbers": the rest of what was asked just before.
    if (!context.clause.is_first && words.size() < 4 && context.is(0, {"never", "not"})) {
      return false;
    }
    add_node(reading, "constraint", whole, rules::kOutright);
    return true;
  }
  if (reading.decided && kNo.match(words) && !points_away) {
    add_node(reading, "constraint", "no " + std::string(context.text({1, words.size()})),
             rules::kPlain);
    return true;
  }
  const auto is_order = [&](std::size_t at) {  // not "never tried climbing", "never did I see him"
    return context.is(
        at,
        {"use",    "write", "send",  "push",  "commit", "deploy",  "delete",  "share",  "post",
         "call",   "run",   "merge", "edit",  "change", "store",   "log",     "print",  "sell",
         "paste",  "put",   "add",   "open",  "close",  "email",   "give",    "tell",   "ask",
         "touch",  "order", "buy",   "pay",   "reply",  "publish", "mention", "accept", "leave",
         "remove", "show",  "skip",  "start", "stop",   "turn",    "upload",  "book",   "wake"});
  };
  if (points_away || context.is(0, {"i", "i'm", "he", "she", "they", "these", "those"})) {
    return false;
  }
  for (std::size_t at = 0; at + 2 < words.size(); ++at) {
    const bool must =
        context.is(at, {"must", "may"}) && context.is(at + 1, {"never", "not"}) && at > 0;
    const bool always =
        context.is(at, {"must"}) && context.is(at + 1, {"always", "only"}) && at > 0;
    const bool never = at == 0 && context.is(0, {"never"}) && words.size() > 3 && is_order(1);
    if (!must && !always && !never) continue;
    add_node(reading, "constraint", whole, rules::kPlain);
    return true;
  }
  return false;
}

void find_files(Reading& reading) {
  const std::string& text = reading.message.text;
  const std::string masked = rules::masked_text(text);
  for (const auto& sentence : rules::split_sentences(masked)) {
    for (std::size_t at = sentence.begin; at < sentence.end;) {
      if (!is_file_byte(masked[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < sentence.end && is_file_byte(masked[end])) ++end;
      std::string_view token = std::string_view(masked).substr(at, end - at);
      const bool address = at >= 3 && masked.substr(at - 3, 3) == "://";
      at = end;
      while (!token.empty() && (token.back() == '.' || token.back() == '-')) token.remove_suffix(1);
      if (address || !is_file_name(token)) continue;
      GraphNode node;
      node.type = "file";
      node.name = std::string(token);
      node.confidence = rules::kPlain;
      node.evidence = {
          {reading.message.message, std::string(trim(std::string_view(text).substr(
                                        sentence.begin, sentence.end - sentence.begin)))}};
      node.verified = true;
      reading.out.nodes.push_back(std::move(node));
    }
  }
}

}  // namespace clawmark::graph_rules
