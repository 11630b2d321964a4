#include "workers/graph.h"

#include "base/limits_world.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "log/graph_events.h"
#include "workers/extract.h"
#include "workers/summary_text.h"

namespace clawmark {
namespace {

WindowOptions window_options(const GraphExtractor& extractor, const GraphOptions& options) {
  WindowOptions out;
  out.worker = "graph";
  out.completed_type = event_type::kGraphCompleted;
  out.model = extractor.model();
  out.local = extractor.is_local();
  out.idle_hours = options.idle_hours;
  out.window_messages = kLeafChunkMessages;
  out.window_chars = options.chunk_tokens * kCharsPerToken;
  out.full_chars = static_cast<std::int64_t>(out.window_chars);
  out.limits = options.limits;
  return out;
}

SpanAnswer span_answer(GraphAnswer answer) {
  SpanAnswer out;
  out.cut = answer.cut;
  out.usage = answer.usage;
  out.graph = std::move(answer);
  return out;
}

std::string clean(std::string_view text, std::size_t chars_max) {
  return redact_secrets(prefix_code_points(text, chars_max));
}

json::array strings(const std::vector<std::string>& list) {
  json::array out;
  for (const auto& text : list) out.emplace_back(clean(text, kGraphNameMax));
  return out;
}

// What was said, each with who said it.
std::vector<std::string> lines_of(const std::vector<const WorkItem*>& items) {
  std::vector<std::string> out;
  for (const WorkItem* item : items) {
    const auto& window = item->window;
    out.push_back((window.role == "user" ? window.speaker : window.role) + ": " + window.text);
  }
  return out;
}

// At most so many items of one answer.
template <class Items, class ToJson>
json::array items_json(const Items& items, std::size_t& left_out, const ToJson& to_json_item) {
  json::array out;
  for (const auto& item : items) {
    if (out.size() < kGraphItemsMax) {
      out.push_back(to_json_item(item));
    } else {
      ++left_out;
    }
  }
  return out;
}

}  // namespace

std::size_t GraphWork::items_per_load() const {
  return kLeafChunkMessages;
}

HttpRequest GraphWork::plan(std::span<const WorkItem> items) const {
  const bool again = again_ && !items.empty() && again_->contains(items.front().message);
  return again ? extractor_->plan_shorter(window_of(items), zone_)
               : extractor_->plan(window_of(items), zone_);
}

Result<SpanAnswer> GraphWork::interpret(const Result<HttpResponse>& response,
                                        std::span<const WorkItem> items) {
  CLAWMARK_ASSIGN(auto answer, extractor_->interpret(response, window_of(items)));
  return span_answer(std::move(answer));
}

Result<SpanAnswer> GraphWork::run_local(std::span<const WorkItem> items) {
  CLAWMARK_ASSIGN(auto answer, extractor_->extract_local(window_of(items), zone_));
  return span_answer(std::move(answer));
}

std::vector<WorkItem> GraphWork::canary() const {
  WorkItem item;
  item.window.message = 1;
  item.window.role = "user";
  item.window.text = "hello";
  return {item};
}

GraphPort::GraphPort(Store& store, BodyStore& bodies, std::shared_ptr<GraphExtractor> extractor,
                     const GraphOptions& options, std::shared_ptr<SecondTries> again)
    : WindowPort(store, bodies, window_options(*extractor, options)),
      extractor_(std::move(extractor)),
      target_tokens_(options.target_tokens),
      again_(again ? std::move(again) : std::make_shared<SecondTries>()) {}

// Prose that is no good, or none, is asked for once more, shorter; then the beginnings of what was
// said stand for it. So there always is one.
bool GraphPort::again(const std::vector<const WorkItem*>& items, const SpanAnswer& answer) {
  if (extractor_->is_local()) return false;
  const auto lines = lines_of(items);
  if (why_no_summary(answer.graph->prose, lines, target_tokens_).empty()) return false;
  return again_->insert(items.front()->message).second;
}

template <class Item>
void GraphPort::add_evidence(const Item& item, json::object& out) const {
  const MessageRow* from = vouching(item.evidence);
  json::array evidence;
  for (const auto& one : item.evidence) {
    // Of one audience: what one person said in private vouches for nothing elsewhere.
    const MessageRow* row = row_of(one.message);
    if (from == nullptr || row == nullptr || row->audience != from->audience) continue;
    evidence.push_back(
        json::object{{"message", one.message}, {"quote", clean(one.quote, kGraphQuoteMax)}});
  }
  out["holder"] = from == nullptr ? "" : from->audience;
  out["evidence"] = std::move(evidence);
  out["verified"] = item.verified && from != nullptr;
  if (!item.why.empty()) out["why"] = item.why;
}

json::object GraphPort::node_json(const GraphNode& node) const {
  json::object out{{"type", node.type},
                   {"name", clean(node.name, kGraphNameMax)},
                   {"description", clean(node.description, kGraphTextMax)},
                   {"confidence", node.confidence}};
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = clean(value, kGraphTextMax);
  };
  set("status", node.status);
  set("reason", node.reason);
  set("slot", node.slot);
  set("choice", node.choice);
  set("replaces", node.replaces);
  if (!node.aliases.empty()) out["aliases"] = strings(node.aliases);
  if (node.stated) out["stated"] = true;
  if (node.only_status) out["only_status"] = true;
  if (node.due) out["due_ms"] = node.due->value;
  add_evidence(node, out);
  return out;
}

json::object GraphPort::edge_json(const GraphEdge& edge) const {
  json::object out{{"type", edge.type},
                   {"from_type", edge.from_type},
                   {"from", clean(edge.from, kGraphNameMax)},
                   {"to_type", edge.to_type},
                   {"to", clean(edge.to, kGraphNameMax)},
                   {"confidence", edge.confidence}};
  if (!edge.slot.empty()) out["slot"] = clean(edge.slot, kGraphNameMax);
  if (edge.closes) out["closes"] = true;
  if (edge.at) out["at_ms"] = edge.at->value;
  if (edge.until) out["until_ms"] = edge.until->value;
  add_evidence(edge, out);
  return out;
}

json::object GraphPort::episode_json(const GraphEpisode& episode) const {
  json::object out{{"type", episode.type},
                   {"title", clean(episode.title, kGraphTextMax)},
                   {"description", clean(episode.description, kGraphTextMax)},
                   {"salience", episode.salience},
                   {"nodes", strings(episode.nodes)}};
  add_evidence(episode, out);
  return out;
}

json::object GraphPort::merge_json(const GraphMerge& merge) const {
  json::object out{{"type", merge.type},
                   {"from", clean(merge.from, kGraphNameMax)},
                   {"into", clean(merge.into, kGraphNameMax)}};
  add_evidence(merge, out);
  return out;
}

std::optional<NewEvent> GraphPort::completed(const std::vector<const WorkItem*>& items,
                                             const SpanAnswer& given) const {
  const GraphAnswer& answer = *given.graph;
  const bool nothing = answer.nodes.empty() && answer.edges.empty() && answer.episodes.empty() &&
                       answer.prose.empty() && answer.dropped == 0;
  if (extractor_->is_local() && nothing) return std::nullopt;
  NewEvent event = window_event(items, "graph", extractor_->prompt_version());
  json::object& out = event.payload;
  // Prose speaks of all that was said, so only those who heard all of it may read it.
  const MessageRow* first = row_of(items.front()->message);
  bool shared = first != nullptr;
  for (const WorkItem* item : items) {
    const MessageRow* row = row_of(item->message);
    shared = shared && row != nullptr && row->audience == first->audience;
  }
  out["holder"] = shared ? first->audience : "";
  std::string prose = answer.prose, method = "normal";
  if (!extractor_->is_local()) {
    const auto lines = lines_of(items);
    const std::string why = why_no_summary(prose, lines, target_tokens_);
    if (again_->erase(items.front()->message) > 0) method = "shorter";
    if (!why.empty()) {
      prose = cut_of(lines);
      method = "cut: " + why;
    }
    out["method"] = method;
  }
  out["prose"] = clean(prose, kGraphProseMax);
  out["state"] = clean(answer.state, kGraphProseMax);
  std::size_t many = 0;
  out["nodes"] = items_json(answer.nodes, many, [&](const auto& item) { return node_json(item); });
  out["edges"] = items_json(answer.edges, many, [&](const auto& item) { return edge_json(item); });
  out["episodes"] =
      items_json(answer.episodes, many, [&](const auto& item) { return episode_json(item); });
  out["merges"] =
      items_json(answer.merges, many, [&](const auto& item) { return merge_json(item); });
  json::object reasons;
  for (const auto& [reason, count] : answer.dropped_for) reasons[reason] = count;
  if (many > 0) reasons["too_many"] = many;
  out["dropped"] = answer.dropped + many;
  if (!reasons.empty()) out["dropped_for"] = std::move(reasons);
  out["usage"] = json::object{{"input_tokens", answer.usage.input_tokens},
                              {"output_tokens", answer.usage.output_tokens}};
  return event;
}

}  // namespace clawmark
