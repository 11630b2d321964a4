#include "serve/inject.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/limits.h"
#include "base/logging.h"
#include "base/read_snapshot.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "projections/facts_at.h"
#include "serve/tool_world.h"

namespace clawmark {
namespace {

constexpr std::size_t kStateLines = 5;
constexpr std::size_t kStateFrame = 45;  // characters of a line beside its text

// Whether `a` is the better account of the same thing than `b`.
bool outranks(const Fact& a, const Fact& b) {
  const bool user_a = a.source == "user", user_b = b.source == "user";
  if (user_a != user_b) return user_a;
  return a.last_observed > b.last_observed;
}

// Room for recall once the facts have theirs.
std::size_t left_of(std::size_t budget, const Block& facts) {
  return budget - std::min(budget, facts.chars);
}

std::size_t as_size(std::int64_t value) {
  return value > 0 ? static_cast<std::size_t>(value) : 0;
}

// A session that begins is told where things were left off: at most state_chars of it, in whole
// lines.
std::vector<RecallItem> state_items(Serving& serving, Database& db, const Sight& sight,
                                    const InjectRequest& request, const Config& config,
                                    InjectAnswer& answer) {
  std::vector<RecallItem> items;
  const bool begins = request.window.known && request.window.count <= 1;
  if (!begins || config.state_chars <= 0) return items;
  const TimeMs now = serving.clock.now();
  GraphScope scope = scope_of(sight, now);
  scope.half_life_days = config.decay_half_life_days;
  const auto lines = state_lines(db, scope, kStateLines);
  if (!lines.ok()) {
    answer.degraded.emplace_back("state");
    return items;
  }
  std::size_t used = 0;
  for (const StateLine& line : *lines) {
    RecallItem item;
    item.message = line.message;
    item.messages = {line.message};
    item.at = line.said;
    item.role = "user";
    item.excerpt = line.text;
    item.state = true;
    item.score = 1;
    used += count_code_points(line.text) + kStateFrame;
    if (used > as_size(config.state_chars)) break;
    items.push_back(std::move(item));
  }
  return items;
}

void add_recall(Serving& serving, Database& db, const Sight& sight, const InjectRequest& request,
                const Config& config, std::int64_t deadline, InjectAnswer& answer) {
  const std::size_t room = left_of(request.budget_chars, answer.facts);
  RecallQuery query;
  query.text = request.prompt;
  query.zone = config.timezone;
  query.session_id = request.session_id;
  query.window = request.window;
  query.limit = as_size(config.recall_limit);
  query.threshold = config.recall_threshold;
  query.deadline_steady_ms = deadline;
  RecallAnswer recalled = serving.retrieval.recall(db, sight, query);
  answer.query = redact_secrets(recalled.query);
  answer.degraded.insert(answer.degraded.end(), recalled.degraded.begin(), recalled.degraded.end());
  if (answer.query.empty()) {
    answer.skipped = "no_prompt";
    return;
  }
  if (recalled.withheld > 0) {
    serving.metrics.count("clawmark_withheld_total", {}, static_cast<double>(recalled.withheld));
  }
  // The last, least certain ones go first when there is not room for all.
  auto items = state_items(serving, db, sight, request, config, answer);
  std::move(recalled.items.begin(), recalled.items.end(), std::back_inserter(items));
  answer.recall = recall_block(items, config.timezone, serving.clock.now(), room);
  while (answer.recall.left_out > 0 && !items.empty()) {
    items.pop_back();
    answer.recall = recall_block(items, config.timezone, serving.clock.now(), room);
  }
  answer.items = std::move(items);
}

}  // namespace

Result<std::vector<Fact>> facts_in_sight(Database& db, const Sight& sight, const Config& config,
                                         TimeMs now, bool unsure, const std::optional<AsOf>& at) {
  if (sight.holders.empty()) return std::vector<Fact>{};
  const ReadSnapshot snapshot(db);
  CLAWMARK_ASSIGN(auto all, at ? facts_at(db, sight.scope.agent, sight.holders, *at)
                               : read_facts(db, sight.scope.agent, sight.holders, now));
  std::map<std::pair<std::string, std::string>, std::size_t> best;
  const auto is_shared = [&](const Fact& fact) {
    return std::find(sight.shared.begin(), sight.shared.end(), fact.holder) != sight.shared.end();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    // What is shared is about the work; about a person it would read as if it were of this one.
    const bool personal = all[i].key.starts_with("user.") || all[i].key.starts_with("pref.");
    if (personal && is_shared(all[i])) continue;
    const bool sure =
        all[i].source == "user" || all[i].effective_confidence >= config.confidence_threshold;
    if (!sure && !unsure) continue;
    const auto [held, fresh] = best.try_emplace({all[i].key, all[i].subject}, i);
    if (fresh) continue;
    const bool own_new = !is_shared(all[i]), own_old = !is_shared(all[held->second]);
    if (own_new != own_old) {
      if (own_new) held->second = i;
      continue;
    }
    // What belongs to somebody is nearer than what is public to the agent.
    const bool public_new = all[i].holder == "agent",
               public_old = all[held->second].holder == "agent";
    if (public_new != public_old ? public_old : outranks(all[i], all[held->second]))
      held->second = i;
  }
  std::vector<std::size_t> kept;
  for (const auto& [key, i] : best) kept.push_back(i);
  std::sort(kept.begin(), kept.end());
  std::vector<Fact> facts;
  for (const std::size_t i : kept) facts.push_back(std::move(all[i]));
  return facts;
}

InjectAnswer inject(Serving& serving, Database& db, const Sight& sight,
                    const InjectRequest& request) {
  const std::int64_t deadline = serving.clock.steady_ms() + kInjectMs;
  const auto config = serving.config();
  InjectAnswer answer;
  serving.count_refusal(sight.refusal);
  answer.skipped = std::string(sight.skipped());
  if (!sight.open()) answer.refusal = std::string(to_string(sight.refusal));
  if (!config->problems.empty()) {
    answer.skipped = "inert";
    return answer;
  }
  db.set_progress([&serving, deadline] { return serving.clock.steady_ms() > deadline; });
  auto facts = facts_in_sight(db, sight, *config, serving.clock.now());
  db.set_progress(nullptr);
  if (facts.ok()) {
    const std::size_t budget = std::min(as_size(config->facts_chars), request.budget_chars);
    answer.facts = facts_block(*facts, config->timezone, serving.clock.now(), budget);
  } else {
    log_warning("inject", describe(facts.error()));
    answer.degraded.emplace_back("facts");
  }
  if (sight.open()) add_recall(serving, db, sight, request, *config, deadline, answer);
  for (const std::string& part : answer.degraded) {
    serving.metrics.count("clawmark_degraded_total", Metrics::label("part", part));
  }
  serving.metrics.count("clawmark_injected_items_total", R"(kind="fact")",
                        static_cast<double>(answer.facts.shown));
  serving.metrics.count("clawmark_injected_items_total", R"(kind="recall")",
                        static_cast<double>(answer.recall.shown));
  return answer;
}

InjectRequest parse_inject(const json::object& body, const Config& config) {
  InjectRequest request;
  request.prompt = std::string(prefix_bytes(get_string(body, "prompt"), kRequestBodyMax));
  if (const auto* window = find_object(body, "window")) {
    request.window.known = true;
    request.window.count = get_int(*window, "count");
    request.window.oldest = {get_int(*window, "oldest_ms")};
  }
  const std::int64_t most = config.block_chars;
  request.budget_chars =
      as_size(std::clamp<std::int64_t>(get_int(body, "budget_chars", most), 0, most));
  return request;
}

json::object to_json(const InjectAnswer& answer) {
  json::object out = protocol_object();
  out["facts_block"] = answer.facts.text;
  out["facts_version"] = block_version(answer.facts.text);
  out["recall_block"] = answer.recall.text;
  json::array items;
  for (const RecallItem& item : answer.items) {
    json::object one{{"kind", item.state ? "state" : "recall"},
                     {"id", std::to_string(item.message)},
                     {"at_ms", item.at.value},
                     {"score", item.score}};
    json::array ids;
    for (const auto message : item.messages) ids.emplace_back(std::to_string(message));
    one["ids"] = std::move(ids);
    one["session_key"] = item.session_key;
    items.push_back(std::move(one));
  }
  out["items"] = std::move(items);
  out["query"] = answer.query;
  out["skipped"] = answer.skipped;
  out["refusal"] = answer.refusal;
  json::array degraded;
  for (const std::string& part : answer.degraded) degraded.emplace_back(part);
  out["degraded"] = std::move(degraded);
  out["elapsed_ms"] = answer.elapsed_ms;
  return out;
}

}  // namespace clawmark
