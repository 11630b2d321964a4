#include "workers/purge_graph.h"

#include <algorithm>

#include "base/utf8.h"
#include "log/graph_events.h"

namespace clawmark {
namespace {

constexpr std::pair<const char*, const char*> kLists[] = {
    {"nodes", "node"}, {"edges", "edge"}, {"episodes", "episode"}, {"merges", "merge"}};

bool names_one_of(const Event& event, const std::unordered_set<std::int64_t>& messages) {
  const auto* list = find_array(event.payload, "messages");
  return list != nullptr && std::any_of(list->begin(), list->end(), [&](const json::value& one) {
           return one.is_int64() && messages.contains(one.get_int64());
         });
}

bool tells_of(const GraphGone& gone, const json::value& item) {
  if (gone.values.empty()) return false;
  const std::string words = fold_case(to_text(item));
  return std::any_of(gone.values.begin(), gone.values.end(),
                     [&](const auto& value) { return words.find(value) != std::string::npos; });
}

// The item without evidence that is gone; nullopt when nothing of it may stay.
std::optional<json::object> what_stays(const json::object& item, const GraphGone& gone) {
  const auto* evidence = find_array(item, "evidence");
  json::array kept;
  if (evidence != nullptr) {
    for (const auto& one : *evidence) {
      if (!one.is_object() || gone.whole.contains(get_int(one.get_object(), "message"))) continue;
      kept.push_back(one);
    }
  }
  // Without evidence it cannot be told from which message of the chunk it came.
  if (kept.empty()) return std::nullopt;
  json::object out = item;
  out["evidence"] = std::move(kept);
  if (tells_of(gone, out)) return std::nullopt;
  return out;
}

}  // namespace

Status find_forgotten_claims(Database& db, GraphGone& gone) {
  CLAWMARK_ASSIGN(auto query,
                  db.prepare("SELECT c.seq, c.kind, c.ordinal FROM graph_claims c JOIN events e ON "
                             "e.seq = c.seq WHERE c.state = 'forgotten' AND e.redacted = 0"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query.step());
    if (!row) return Ok{};
    gone.claims.emplace(query.integer(0), query.string(1), query.integer(2));
  }
}

bool speaks_of_gone(const Event& event, const GraphGone& gone) {
  if (event.type == event_type::kFileExplored) {
    const std::int64_t message = get_int(event.payload, "message");
    return gone.whole.contains(message) || gone.sources.contains(message);
  }
  return names_one_of(event, gone.whole) || names_one_of(event, gone.sources);
}

std::optional<NewEvent> amended_file(const Event& event, const GraphGone& gone) {
  if (event.type != event_type::kFileExplored) return std::nullopt;
  if (!tells_of(gone, json::value(get_string(event.payload, "summary") + "\n" +
                                  get_string(event.payload, "name")))) {
    return std::nullopt;
  }
  NewEvent out{event.type,     event.version, event.scope, event.dedupe_key + ":kept",
               event.occurred, event.payload};
  out.payload["name"] = "";
  out.payload["summary"] = "(what was seen of it told something that was forgotten)";
  return out;
}

std::optional<NewEvent> amended_graph(const Event& event, const GraphGone& gone) {
  const auto first = gone.claims.lower_bound({event.seq.value, "", 0});
  const bool lets_go = first != gone.claims.end() && std::get<0>(*first) == event.seq.value;
  if (!lets_go && !names_one_of(event, gone.whole) && !names_one_of(event, gone.sources)) {
    return std::nullopt;
  }
  NewEvent out{event.type,     event.version, event.scope, event.dedupe_key + ":kept",
               event.occurred, event.payload};
  bool changed = false;
  std::int64_t lost = 0;
  for (const auto& [list, kind] : kLists) {
    const auto* items = find_array(event.payload, list);
    if (items == nullptr) continue;
    json::array kept;
    for (std::size_t at = 0; at < items->size(); ++at) {
      const json::value& item = (*items)[at];
      const bool forgotten =
          gone.claims.contains({event.seq.value, kind, static_cast<std::int64_t>(at)});
      auto stays =
          forgotten || !item.is_object() ? std::nullopt : what_stays(item.get_object(), gone);
      if (!stays) ++lost;
      changed = changed || !stays || *stays != item.get_object();
      if (stays) kept.emplace_back(std::move(*stays));
    }
    out.payload[list] = std::move(kept);
  }
  for (const char* text : {"prose", "state"}) {
    if (get_string(event.payload, text).empty()) continue;
    out.payload[text] = "";
    changed = true;
  }
  if (!changed) return std::nullopt;
  out.payload["withdrawn"] = lost + get_int(event.payload, "withdrawn");
  return out;
}

}  // namespace clawmark
