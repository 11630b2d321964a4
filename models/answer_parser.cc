#include "models/answer_parser.h"

#include <algorithm>
#include <charconv>

#include "base/json.h"
#include "base/utf8.h"
#include "models/tolerant_json.h"

namespace clawmark {
namespace {

constexpr std::size_t kCandidatesMax = 200;        // places where a list might start
constexpr std::size_t kAnswerBytesMax = 1u << 20;  // of a chat answer; more is no list of facts

std::string text_of(const json::value& value) {
  if (value.is_string()) return std::string(view(value.get_string()));
  if (value.is_bool()) return value.get_bool() ? "true" : "false";
  if (value.is_number()) return to_text(value);
  if (!value.is_array()) return {};
  std::string joined;
  for (const json::value& item : value.get_array()) {
    const std::string text = text_of(item);
    if (text.empty()) return {};
    if (!joined.empty()) joined += ", ";
    joined += text;
  }
  return joined;
}

std::optional<double> number_of(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->to_number<double>();
  if (!value->is_string()) return std::nullopt;
  const std::string_view text = trim(view(value->get_string()));
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return text.substr(static_cast<std::size_t>(end - text.data())) == "%" ? number / 100 : number;
}

std::optional<std::int64_t> integer_of(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (!value->is_string()) return std::nullopt;
  std::string_view text = trim(view(value->get_string()));
  if (text.starts_with('#')) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

const json::value* first_of(const json::object& object,
                            std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const json::value* found = find(object, name)) return found;
  }
  return nullptr;
}

void read_evidence(const json::value& value, std::vector<ParsedEvidence>& out) {
  if (value.is_array()) {
    for (const json::value& item : value.get_array()) read_evidence(item, out);
  } else if (value.is_object()) {
    const json::object& object = value.get_object();
    ParsedEvidence evidence;
    evidence.message = integer_of(first_of(object, {"message", "id", "message_id"}));
    if (const json::value* quote = first_of(object, {"quote", "text"}))
      evidence.quote = text_of(*quote);
    out.push_back(std::move(evidence));
  } else if (value.is_string()) {
    out.push_back({std::nullopt, text_of(value)});
  }
}

std::optional<ParsedFact> read_fact(const json::value& value) {
  if (!value.is_object()) return std::nullopt;
  const json::object& object = value.get_object();
  ParsedFact fact;
  if (const json::value* key = find(object, "key"); key && key->is_string())
    fact.key = text_of(*key);
  if (const json::value* content = find(object, "value")) fact.value = text_of(*content);
  if (trim(fact.key).empty() || trim(fact.value).empty()) return std::nullopt;
  if (const auto confidence = number_of(find(object, "confidence"))) {
    fact.confidence = *confidence >= 0 && *confidence <= 1 ? *confidence
                      : *confidence > 1                    ? 1.0
                                                           : 0.0;
  }
  if (const json::value* evidence = find(object, "evidence"))
    read_evidence(*evidence, fact.evidence);
  if (const json::value* quote = find(object, "quote"); quote && fact.evidence.empty()) {
    fact.evidence.push_back(
        {integer_of(first_of(object, {"message", "message_id"})), text_of(*quote)});
  }
  if (const json::value* due = find(object, "due"); due && due->is_string())
    fact.due = text_of(*due);
  return fact;
}

// The list inside a value; nullptr: this value is no answer.
const json::array* list_of(const json::value& value) {
  if (value.is_array()) return &value.get_array();
  if (!value.is_object()) return nullptr;
  return find_array(value.get_object(), "facts");
}

bool looks_like_facts(const json::array& list) {
  return std::all_of(list.begin(), list.end(), [](const json::value& item) {
    return item.is_object() && find(item, "key") != nullptr;
  });
}

// How well a value answers the question; higher is better, 0 not at all.
int fitness(const TolerantValue& read) {
  if (read.end == TolerantEnd::kBad && read.skipped == 0) {
    // {"facts":[…] followed by rubbish still holds its items.
    if (!read.value.is_object() || list_of(read.value) == nullptr) return 0;
  }
  const json::array* list = list_of(read.value);
  if (list == nullptr) {
    const bool single = read.end == TolerantEnd::kWhole && read_fact(read.value).has_value();
    return single ? 1 : 0;
  }
  if (read.value.is_object()) return 4;
  if (!list->empty()) return looks_like_facts(*list) ? 3 : 0;
  return read.end == TolerantEnd::kWhole && read.skipped == 0 ? 2 : 0;
}

void fill(const TolerantValue& read, ParsedAnswer& answer) {
  answer.found = true;
  answer.cut = read.end != TolerantEnd::kWhole;
  answer.dropped = read.skipped;
  const json::array* list = list_of(read.value);
  if (list == nullptr) {
    if (auto fact = read_fact(read.value)) answer.facts.push_back(*std::move(fact));
    return;
  }
  for (const json::value& item : *list) {
    if (auto fact = read_fact(item)) {
      answer.facts.push_back(*std::move(fact));
    } else {
      ++answer.dropped;
    }
  }
}

// The answer in a stretch of text without thinking.
ParsedAnswer parse_plain(std::string_view text) {
  ParsedAnswer answer;
  TolerantValue best;
  int best_fitness = 0;
  std::size_t tried = 0;
  for (std::size_t at = 0; at < text.size() && tried < kCandidatesMax; ++tried) {
    at = text.find_first_of("{[", at);
    if (at == std::string_view::npos) break;
    TolerantValue read = read_tolerant_json(text.substr(at));
    const int fits = fitness(read);
    const std::size_t next = fits > 0 && read.end == TolerantEnd::kWhole ? at + read.used : at + 1;
    if (fits > best_fitness) {
      best_fitness = fits;
      best = std::move(read);
    }
    if (best_fitness == 4) break;
    at = next;
  }
  if (best_fitness > 0) fill(best, answer);
  return answer;
}

}  // namespace

ParsedAnswer parse_answer(std::string_view text) {
  text = text.substr(0, kAnswerBytesMax);
  const std::size_t first_open = text.find("<think");
  const std::size_t brace = text.find_first_of("{[");
  // Thinking stands before the answer, never inside it.
  for (const std::string_view close : {"</think>", "</thinking>"}) {
    const std::size_t end = text.rfind(close);
    if (end == std::string_view::npos) continue;
    ParsedAnswer answer = parse_plain(text.substr(end + close.size()));
    if (answer.found) return answer;
  }
  const bool thinking_first = first_open != std::string_view::npos && first_open < brace;
  const bool closed = text.find("</think", first_open == std::string_view::npos ? 0 : first_open) !=
                      std::string_view::npos;
  if (thinking_first && !closed) return {};  // it never came to an answer
  if (thinking_first) {
    // The closing tag stood inside a value of the answer, or nothing follows it.
    const std::size_t end = text.find('>', text.find("</think", first_open));
    return end == std::string_view::npos ? ParsedAnswer{} : parse_plain(text.substr(end + 1));
  }
  return parse_plain(text);
}

}  // namespace clawmark
