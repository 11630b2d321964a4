// 1 conversations, 2 the graph of summaries, 3 what the model sees.

#include <algorithm>
#include <set>

#include "base/scope.h"
#include "base/utf8.h"
#include "cmd/tui/view.h"

namespace clawmark::tui {
namespace {

constexpr std::int64_t kMessages = 50;  // of a page, as many as rc_peek gives

std::string joined(const json::object& row, std::string_view key) {
  std::string out;
  if (const auto* list = find_array(row, key)) {
    for (const auto& item : *list) {
      if (!item.is_string()) continue;
      out.append(out.empty() ? "" : ", ").append(view(item.get_string()));
    }
  }
  return out;
}

// Without "agent:main:", which all have.
std::string short_key(const std::string& key) {
  const auto second = key.find(':', key.find(':') + 1);
  return key.starts_with("agent:") && second != std::string::npos ? key.substr(second + 1) : key;
}

std::string speaker_of(const json::object& message) {
  const std::string role = get_string(message, "role");
  const std::string speaker = get_string(message, "speaker");
  return role == "user" && !speaker.empty() ? speaker : role;
}

Style style_of(const json::object& message) {
  const std::string role = get_string(message, "role");
  return role == "user" ? Style::kNormal : Style::kDim;
}

// A tool's answer: its members are in `details`.
const json::object& details_of(const json::object& answer) {
  static const json::object kNone;
  const auto* found = find_object(answer, "details");
  return found == nullptr ? kNone : *found;
}

std::optional<Load> list_messages(const Answers& answers, Page& page, const std::string& zone) {
  page.items.clear();
  if (const auto failure = failure_of(answers)) {
    page.error = *failure;
    return std::nullopt;
  }
  const json::object& found = details_of(*answers.front());
  for (const json::object* message : objects_of(found, "messages")) {
    const std::string text =
        get_optional_string(*message, "text").value_or("(no longer to be read)");
    page.items.push_back(
        {{short_time(get_string(*message, "at"), zone), speaker_of(*message), text},
         style_of(*message),
         *message});
  }
  page.note = std::to_string(get_int(found, "total")) + " in all";
  if (page.cursor == 0 && !page.items.empty()) page.cursor = page.items.size() - 1;
  return std::nullopt;
}

Page messages_page(const std::string& session, const std::string& title, std::int64_t offset,
                   const std::string& zone) {
  Page page;
  page.title = title;
  page.columns = {{"when", 16, false}, {"who", 14, false}, {"what", 0, false}};
  page.empty = "no messages that may be shown";
  page.load = {
      {admin("rc_peek", {{"sessionId", session}, {"offset", offset}, {"length", kMessages}})},
      [zone](const Answers& answers, Page& here) { return list_messages(answers, here, zone); }};
  return page;
}

// A message whole, and what was understood of it.
Page message_page(const std::string& session, const json::object& message) {
  const std::int64_t index = get_int(message, "index");
  Page page;
  page.title = "Message " + get_string(message, "id");
  page.load = {{admin("rc_slice", {{"sessionId", session}, {"start", index}, {"end", index + 1}}),
                admin("explain", {{"line", get_string(message, "id")}})},
               [](const Answers& answers, Page& here) {
                 here.text.clear();
                 for (const auto& answer : answers) {
                   if (!answer.ok()) {
                     here.error = answer.error().message;
                     return std::optional<Load>{};
                   }
                   here.text += (here.text.empty() ? "" : "\n\n") + get_string(*answer, "text");
                 }
                 return std::optional<Load>{};
               }};
  return page;
}

class ConversationsView final : public View {
 public:
  std::string_view name() const override { return "Conversations"; }

  Page list(const Place& place) override {
    Page page;
    page.title = "Conversations";
    page.columns = {{"last", 16, false},
                    {"lane", 7, false},
                    {"messages", 8, true},
                    {"who", 20, false},
                    {"key", 0, false}};
    page.empty = "no conversation yet: is anything read? see 8";
    page.load = {{admin("conversations", {})},
                 [zone = place.zone](const Answers& answers, Page& here) {
                   here.items.clear();
                   if (const auto failure = failure_of(answers)) {
                     here.error = *failure;
                     return std::optional<Load>{};
                   }
                   for (const json::object* row : objects_of(*answers.front(), "conversations")) {
                     here.items.push_back(
                         {{short_time(get_string(*row, "last_at"), zone), get_string(*row, "lane"),
                           std::to_string(get_int(*row, "messages")), joined(*row, "speakers"),
                           short_key(get_string(*row, "session_key"))},
                          Style::kNormal,
                          *row});
                   }
                   return std::optional<Load>{};
                 }};
    return page;
  }

  std::optional<Page> open(const Page& page, const Item& item, const Place& place) override {
    if (page.title != "Conversations") return message_page(session_, item.data);
    session_ = get_string(item.data, "session_id");
    offset_ = 0;
    title_ = "Session " + session_.substr(0, 8) + ", " + get_string(item.data, "session_key");
    return messages_page(session_, title_, 0, place.zone);
  }

  Reaction key(const Key& key, const Page& page, const Item* item, const Place& place) override {
    Reaction out;
    const bool messages = !page.is_text() && page.title != "Conversations";
    if (messages && (key.is('<') || key.is('>'))) {
      out.used = true;
      const std::int64_t next = offset_ + (key.is('<') ? kMessages : -kMessages);
      const bool full = page.items.size() >= static_cast<std::size_t>(kMessages);
      if (next < 0 || (key.is('<') && !full)) {
        out.say = next < 0 ? "these are the newest" : "these are the oldest";
        return out;
      }
      offset_ = next;
      out.page = messages_page(session_, title_, offset_, place.zone);
    } else if (key.is('x') && item != nullptr) {
      out.used = true;
      const bool whole = !messages;
      const std::string id = get_string(item->data, whole ? "session_id" : "id");
      json::object what{{whole ? "session" : "message", id}};
      Confirm confirm;
      confirm.question = whole ? "Forget all that was said in session " + id + " (" +
                                     get_string(item->data, "session_key") + ")?"
                               : "Forget message " + id + " of " + item->cells[0] + "?";
      confirm.action = admin("forget", what);
      what["preview"] = true;
      confirm.preview = admin("forget", std::move(what));
      out.confirm = std::move(confirm);
    }
    return out;
  }

  std::string hints(const Page& page) const override {
    if (page.is_text()) return {};
    return page.title == "Conversations" ? "Enter read · x forget"
                                         : "Enter whole · < > older, newer · x forget";
  }
  std::string help() const override {
    return "  Enter reads one, and there a message whole, with what was understood of it;\n"
           "  < > older and newer messages;  x forgets the conversation or the message";
  }

 private:
  std::string session_, title_;
  std::int64_t offset_ = 0;
};

// --- 2 -----------------------------------------------------------------------------------------

class SummariesView final : public View {
 public:
  std::string_view name() const override { return "DAG"; }

  Page list(const Place& place) override {
    Page page;
    page.title = "Summaries";
    page.columns = {
        {"summary", 16, false}, {"until", 16, false}, {"of", 12, true}, {"text", 0, false}};
    page.empty = "no summaries yet: a model writes them (extract_url or summary_url)";
    page.load = {{admin("summaries", {})},
                 [this, zone = place.zone](const Answers& answers, Page& here) {
                   here.items.clear();
                   if (const auto failure = failure_of(answers)) {
                     here.error = *failure;
                     return std::optional<Load>{};
                   }
                   fill(*answers.front(), zone, here);
                   return std::optional<Load>{};
                 }};
    return page;
  }

  std::optional<Page> open(const Page& page, const Item& item, const Place&) override {
    if (page.title != "Summaries") return std::nullopt;
    const std::string id = get_string(item.data, "id");
    return text_page("Summary " + id, admin("expand", {{"summaryId", id}}));
  }

  Reaction key(const Key& key, const Page& page, const Item* item, const Place&) override {
    Reaction out;
    if (page.title != "Summaries" || item == nullptr) return out;
    const std::string id = get_string(item->data, "id");
    const auto* sources = find_array(item->data, "sources");
    const bool joined = sources != nullptr && !sources->empty();
    if (key.is('o') || key.kind == Key::Kind::kTab) {
      out.used = true;
      if (!joined) {
        out.say = id + " is of messages: Enter shows them";
        return out;
      }
      if (!open_.erase(id)) open_.insert(id);
      out.reload = true;
    } else if (key.is('d')) {
      out.used = true;
      if (!joined) {
        out.say = id + " is of messages: there is nothing below it to stand for itself";
        return out;
      }
      out.confirm = Confirm{"Dissolve " + id + "? The " + std::to_string(sources->size()) +
                                " summaries below it stand for themselves again, and stay so.",
                            get_string(item->data, "text"), std::nullopt,
                            admin("dissolve", {{"summaryId", id}})};
    }
    return out;
  }

  std::string hints(const Page& page) const override {
    return page.is_text() ? std::string() : "Enter expand · o open, close · d dissolve";
  }
  std::string help() const override {
    return "  summaries, and those that they were made of;  Enter expands one to its messages;\n"
           "  o opens and closes;  d dissolves one of summaries, so that those below stand again";
  }

 private:
  void fill(const json::object& answer, const std::string& zone, Page& page) const {
    const auto all = objects_of(answer, "summaries");
    for (const json::object* row : all) {
      if (get_bool(*row, "top")) add(*row, all, zone, 0, page);
    }
  }
  void add(const json::object& row, const std::vector<const json::object*>& all,
           const std::string& zone, std::size_t level, Page& page) const {
    const std::string id = get_string(row, "id");
    const auto* sources = find_array(row, "sources");
    const bool joined = sources != nullptr && !sources->empty();
    const std::string mark = !joined ? "  " : open_.contains(id) ? "▾ " : "▸ ";
    page.items.push_back(
        {{std::string(level * 2, ' ') + mark + id, short_time(get_string(row, "said_at"), zone),
          joined ? std::to_string(sources->size()) + " summaries" : "messages",
          get_string(row, "text")},
         level == 0 ? Style::kNormal : Style::kDim,
         row});
    if (!joined || !open_.contains(id) || level > 8) return;
    for (const auto& source : *sources) {
      for (const json::object* below : all) {
        if (source.is_string() && get_string(*below, "id") == view(source.get_string())) {
          add(*below, all, zone, level + 1, page);
        }
      }
    }
  }

  std::set<std::string> open_;
};

}  // namespace

std::unique_ptr<View> make_conversations_view() {
  return std::make_unique<ConversationsView>();
}
std::unique_ptr<View> make_summaries_view() {
  return std::make_unique<SummariesView>();
}

}  // namespace clawmark::tui
