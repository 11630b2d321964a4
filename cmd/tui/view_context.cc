// 3: what the model sees of a conversation: blocks, summaries, and the messages themselves.

#include <algorithm>

#include "base/clock.h"
#include "base/scope.h"
#include "cmd/tui/view.h"

namespace clawmark::tui {
namespace {

constexpr std::int64_t kTail = 32;            // messages
constexpr std::int64_t kBlockChars = 60'000;  // of the summaries

const json::object& details_of(const json::object& answer) {
  static const json::object kNone;
  const auto* found = find_object(answer, "details");
  return found == nullptr ? kNone : *found;
}

// As the host would tell of it.
json::object caller_of(const Place& place) {
  const SessionKey key = parse_session_key(place.session_key);
  json::object out{{"agent", key.agent},
                   {"session_key", place.session_key},
                   {"session_id", place.session_id},
                   {"channel", key.channel},
                   {"trigger", "user"}};
  if (key.lane == Lane::kDirect && !key.channel.empty()) {
    out["sender_id"] = key.peer.substr(0, key.peer.find(":thread:"));
  }
  return out;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

void add_block(Page& page, const std::string& heading, const std::string& block,
               const std::string& kind) {
  page.items.push_back({{"── " + heading}, Style::kStrong, {}});
  if (block.empty()) page.items.push_back({{"   (nothing)"}, Style::kDim, {}});
  for (std::size_t at = 0; at < block.size();) {
    const auto end = std::min(block.find('\n', at), block.size());
    const std::string line = block.substr(at, end - at);
    page.items.push_back({{line}, Style::kNormal, json::object{{"line", line}, {"kind", kind}}});
    at = end + 1;
  }
}

std::string why_nothing(const json::object& inject) {
  const std::string skipped = get_string(inject, "skipped"),
                    refusal = get_string(inject, "refusal");
  return !skipped.empty() ? skipped : refusal;
}

class ContextView final : public View {
 public:
  std::string_view name() const override { return "Context"; }
  bool depends_on_place() const override { return true; }

  Page list(const Place& place) override {
    if (place != place_) prompt_.clear();  // it was of another conversation
    place_ = place;
    Page page;
    page.title = "What the model sees in " + place.session_key;
    page.columns = {{"", 0, false}};
    page.empty = "choose a conversation in 1 first";
    if (place.session_id.empty()) {
      page.load.fill = [](const Answers&, Page& here) {
        here.items.clear();
        return std::optional<Load>{};
      };
      return page;
    }
    page.load = {
        {admin("rc_peek", {{"sessionId", place.session_id}, {"length", kTail}}),
         {"GET", "/v1/status", {}}},
        [this](const Answers& answers, Page& here) { return messages_came(answers, here); }};
    return page;
  }

  std::optional<Page> open(const Page& page, const Item& item, const Place&) override {
    const std::string line = get_string(item.data, "line");
    if (page.is_text() || line.empty()) return std::nullopt;
    Page why = text_page("Why", admin("explain", {{"line", line}}));
    why.load.fill = [shown = item.cells.front()](const Answers& answers, Page& here) {
      const auto failure = failure_of(answers);
      here.text = shown + "\n\n" + (failure ? *failure : get_string(*answers.front(), "text"));
      return std::optional<Load>{};
    };
    return why;
  }

  Reaction key(const Key& key, const Page& page, const Item*, const Place&) override {
    Reaction out;
    if (!key.is('p') || page.is_text()) return out;
    out.used = true;
    out.input = Input{"prompt", prompt_, [this](const std::string& text) { prompt_ = text; }};
    return out;
  }

  std::string hints(const Page& page) const override {
    return page.is_text() ? std::string() : "Enter why · p another prompt";
  }
  std::string help() const override {
    return "  the conversation marked in 1: facts, recall for its newest prompt, summaries, "
           "messages;\n"
           "  Enter explains a line down to its messages;  p asks for another prompt";
  }

 private:
  std::optional<Load> messages_came(const Answers& answers, Page& page) {
    page.items.clear();
    if (const auto failure = failure_of(answers)) {
      page.error = *failure;
      return std::nullopt;
    }
    const json::object tail = details_of(*answers[0]);
    const auto* plugin = find_object(*answers[1], "plugin");
    const std::string mode = plugin == nullptr ? "" : get_string(*plugin, "context_mode");
    const auto messages = objects_of(tail, "messages");
    std::string prompt = prompt_;
    TimeMs oldest;
    for (const json::object* message : messages) {
      if (oldest.value == 0) oldest = parse_iso(get_string(*message, "at")).value_or(TimeMs{});
      if (prompt_.empty() && get_string(*message, "role") == "user") {
        prompt = get_string(*message, "text");
      }
    }
    const json::object caller = caller_of(place_);
    Load next;
    next.requests.push_back(admin(
        "inject", {{"caller", caller},
                   {"prompt", prompt},
                   {"window", json::object{{"count", static_cast<std::int64_t>(messages.size())},
                                           {"oldest_ms", oldest.value}}}}));
    next.requests.push_back({"POST",
                             "/v1/assemble",
                             {{"caller", caller},
                              {"mode", mode.empty() ? "world" : mode},
                              {"before_ms", oldest.value},
                              {"chars", kBlockChars}}});
    next.fill = [tail, mode, prompt, zone = place_.zone](const Answers& blocks, Page& here) {
      blocks_came(tail, mode, prompt, zone, blocks, here);
      return std::optional<Load>{};
    };
    return next;
  }

  static void blocks_came(const json::object& tail, const std::string& mode,
                          const std::string& prompt, const std::string& zone, const Answers& blocks,
                          Page& page) {
    if (const auto failure = failure_of(blocks)) {
      page.error = *failure;
      return;
    }
    const json::object& inject = *blocks[0];
    const std::string nothing = why_nothing(inject);
    const std::string facts = get_string(inject, "facts_block");
    add_block(page,
              "facts, at the end of the system prompt" +
                  (nothing.empty() ? std::string() : " (closed: " + nothing + ")"),
              facts, "fact");
    const std::string block = get_string(*blocks[1], "block");
    add_block(page,
              mode.empty() ? "summaries (only as the host's context engine: it is not)"
                           : "summaries of what is older (" + mode + ")",
              block, "summary");
    add_block(page, "recall, in the message of the user; prompt: " + flat(prompt),
              get_string(inject, "recall_block"), "recall");
    const auto messages = objects_of(tail, "messages");
    page.items.push_back({{"── messages, the newest " + std::to_string(messages.size()) + " of " +
                           std::to_string(get_int(tail, "total"))},
                          Style::kStrong,
                          {}});
    for (const json::object* message : messages) {
      const std::string speaker = get_string(*message, "speaker");
      const std::string who = speaker.empty() ? get_string(*message, "role") : speaker;
      page.items.push_back(
          {{short_time(get_string(*message, "at"), zone) + " " + who + ": " +
            get_string(*message, "text")},
           get_string(*message, "role") == "user" ? Style::kNormal : Style::kDim,
           json::object{{"line", get_string(*message, "id")}, {"kind", "message"}}});
    }
    page.note = std::to_string(facts.empty() ? 0 : count_lines(facts) - 2) + " facts";
  }

  Place place_;
  std::string prompt_;
};

}  // namespace

std::unique_ptr<View> make_context_view() {
  return std::make_unique<ContextView>();
}

}  // namespace clawmark::tui
