// The graph extractor that needs no model: rules for what people say outright.

#include <algorithm>

#include "base/limits_world.h"
#include "base/utf8.h"
#include "models/evidence.h"
#include "models/graph/rules.h"
#include "models/rules/lexicon.h"

namespace clawmark {
namespace graph_rules {

std::string_view Reading::quote_from(std::size_t first) const {
  const std::size_t begin = clauses[first].begin;
  return std::string_view(message.text).substr(begin, clauses[at].end - begin);
}

std::vector<Evidence> Reading::evidence(std::size_t first) const {
  return {{message.message, std::string(quote_from(first))}};
}

std::string thing(const Context& context, Span span, std::size_t words_max) {
  const auto object = rules::object_of(context, span, words_max);
  if (!object) return {};
  Span what = *object;
  while (what.first + 1 < what.last &&
         context.is(what.first, {"the", "a", "an", "our", "my", "this", "to"})) {
    ++what.first;
  }
  const auto& words = context.words();
  for (std::size_t at = what.first; at < what.last; ++at) {
    if (rules::is_deictic(words[at].lower)) return {};
  }
  const bool pronoun =
      context.is(what.first,
                 {"i",    "we",         "you",     "he",   "she",   "they",   "them",    "us",
                  "me",   "everything", "nothing", "all",  "both",  "there",  "here",    "now",
                  "well", "one",        "i'm",     "i've", "i'll",  "we're",  "we've",   "we'll",
                  "he's", "she's",      "they're", "it's", "he'll", "she'll", "they'll", "that's"});
  return pronoun ? std::string() : std::string(context.text(what));
}

bool is_identifier(const rules::Word& word) {
  if (word.is_pause || word.lower.size() < 2) return false;
  const bool digit = word.lower.find_first_of("0123456789") != std::string::npos;
  const bool joined = word.lower.find_first_of("-_#./") != std::string::npos;
  const bool letter = std::any_of(word.lower.begin(), word.lower.end(),
                                  [](char c) { return c >= 'a' && c <= 'z'; });
  return digit && ((joined && letter && word.is_capital) || word.lower.front() == '#');
}

bool names_something(const Context& context, Span span) {
  for (std::size_t at = span.first; at < span.last; ++at) {
    const auto& word = context.words()[at];
    if (is_identifier(word) || rules::tool_kind(word.lower)) return true;
    if (word.lower.find_first_of("0123456789") != std::string::npos) return true;
    const bool sentence_start = at == 0 && context.clause.is_first;
    if (word.is_capital && !sentence_start && word.lower != "i") return true;
  }
  return false;
}

std::string upper_first(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

GraphNode& add_node(Reading& reading, std::string_view type, std::string name, double confidence) {
  GraphNode node;
  node.type = std::string(type);
  node.name = collapse_space(name);
  node.description = collapse_space(reading.quote());
  node.confidence = confidence;
  node.stated = reading.clause().is_explicit;
  node.evidence = reading.evidence(reading.at);
  node.verified = true;  // quotes are the message's own bytes
  reading.out.nodes.push_back(std::move(node));
  return reading.out.nodes.back();
}

GraphEdge& add_edge(Reading& reading, std::string_view type, std::string_view from_type,
                    std::string from, std::string_view to_type, std::string to) {
  GraphEdge edge;
  edge.type = std::string(type);
  edge.from_type = std::string(from_type);
  edge.from = collapse_space(from);
  edge.to_type = std::string(to_type);
  edge.to = collapse_space(to);
  edge.confidence = rules::kPlain;
  edge.evidence = reading.evidence(reading.at);
  edge.verified = true;
  reading.out.edges.push_back(std::move(edge));
  return reading.out.edges.back();
}

GraphEpisode& add_episode(Reading& reading, std::string_view type, std::string title,
                          double salience) {
  GraphEpisode episode;
  episode.type = std::string(type);
  episode.title = collapse_space(title);
  episode.description = collapse_space(reading.quote());
  episode.salience = salience;
  episode.evidence = reading.evidence(reading.at);
  episode.verified = true;
  reading.out.episodes.push_back(std::move(episode));
  return reading.out.episodes.back();
}

void by_speaker(Reading& reading, std::string_view edge, std::string_view from_type,
                const std::string& from) {
  const std::string& speaker = reading.message.speaker;
  if (trim(speaker).empty()) return;
  GraphNode& node = add_node(reading, "person", speaker, rules::kOutright);
  node.description.clear();
  node.stated = false;
  add_edge(reading, edge, from_type, from, "person", speaker);
}

}  // namespace graph_rules

namespace {

using graph_rules::Reading;

constexpr std::size_t kPastedBytes = 3000;  // a message this long is mostly pasted

void read_message(const WindowMessage& message, std::string_view zone, GraphAnswer& out) {
  Reading reading{message, rules::split_clauses(message.text), 0, zone, out};
  graph_rules::find_files(reading);
  if (message.text.size() > kPastedBytes) return;
  for (; reading.at < reading.clauses.size(); ++reading.at) {
    std::vector<rules::Finding> unused;
    const rules::Context context{message.text, reading.clause(), message.at, zone, unused};
    using namespace graph_rules;
    if (find_decision(reading, context)) {
      reading.decided = true;
      continue;
    }
    if (find_move(reading, context) || find_project(reading, context)) continue;
    const bool person = find_person(reading, context);
    const bool dated = find_dated(reading, context);
    if (person || dated || find_blocker(reading, context) || find_status(reading, context)) {
      continue;
    }
    if (find_task(reading, context) || find_constraint(reading, context)) continue;
    find_failure(reading, context);
  }
}

class BuiltinGraphExtractor final : public GraphExtractor {
 public:
  std::string model() const override { return "builtin-rules"; }
  std::string prompt_version() const override { return "graph-rules-1"; }
  bool is_local() const override { return true; }

  Result<GraphAnswer> extract_local(std::span<const WindowMessage> window,
                                    std::string_view zone) override {
    GraphAnswer answer;
    for (const WindowMessage& message : window) {
      if (is_person(message)) read_message(message, zone, answer);
    }
    std::erase_if(answer.nodes, [](const GraphNode& node) {
      return trim(node.name).empty() || node.name.find("[secret") != std::string::npos ||
             count_code_points(node.name) > kGraphNameMax;
    });
    return answer;
  }

  HttpRequest plan(std::span<const WindowMessage>, std::string_view) const override { return {}; }

  Result<GraphAnswer> interpret(const Result<HttpResponse>&,
                                std::span<const WindowMessage>) const override {
    return make_error(ErrorKind::kFatal, "graph", "local",
                      "the built-in graph extractor answers without a request");
  }
};

}  // namespace

std::unique_ptr<GraphExtractor> make_builtin_graph_extractor() {
  return std::make_unique<BuiltinGraphExtractor>();
}

}  // namespace clawmark
