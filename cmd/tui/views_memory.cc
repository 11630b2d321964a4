// 7 facts, with what has to be decided about them; 8 health, and what was set aside.

#include <cmath>

#include "cmd/terminal.h"
#include "cmd/tui/view.h"

namespace clawmark::tui {
namespace {

constexpr std::int64_t kReviewDays = 90;

std::string percent(double value) {
  return std::to_string(std::lround(value * 100)) + "%";
}

bool to_review(const json::object& fact) {
  return get_string(fact, "source") == "extracted" &&
         (get_int(fact, "days_since_reinforced") >= kReviewDays || !get_bool(fact, "injected"));
}

void fact_text(const json::object& found, const std::string& zone, std::string& text) {
  text += "Values\n";
  for (const json::object* row : objects_of(found, "values")) {
    const std::string to = short_time(get_string(*row, "valid_to"), zone);
    text += "  " + short_time(get_string(*row, "valid_from"), zone) +
            (to.empty() ? " until now" : " until " + to) + ": " + flat(get_string(*row, "value")) +
            "\n    " + get_string(*row, "source") + ", for " + get_string(*row, "holder");
    if (const auto message = get_int(*row, "message"); message > 0) {
      text +=
          ", message " + std::to_string(message) + ": “" + flat(get_string(*row, "quote")) + "”";
    }
    text += "\n";
  }
  text += "\nAudit\n";
  for (const json::object* row : objects_of(found, "changes")) {
    text += "  " + short_time(get_string(*row, "at"), zone) + " " + get_string(*row, "type") +
            " (" + get_string(*row, "source") + ", event " +
            std::to_string(get_int(*row, "event")) + ")";
    const std::string now = flat(get_string(*row, "new_value"));
    text += (now.empty() ? "" : ": " + now) + "\n";
  }
}

class FactsView final : public View {
 public:
  std::string_view name() const override { return "Facts"; }

  Page list(const Place&) override {
    Page page;
    page.title = review_ ? "Facts to be reviewed" : "Facts";
    page.columns = {{"key", 30, false},
                    {"value", 0, false},
                    {"by", 9, false},
                    {"sure", 4, true},
                    {"said", 10, false}};
    page.empty = review_ ? "nothing to review" : "no fact is known yet";
    page.load = {
        {admin("facts", {})}, [review = review_](const Answers& answers, Page& here) {
          here.items.clear();
          if (const auto failure = failure_of(answers)) {
            here.error = *failure;
            return std::optional<Load>{};
          }
          for (const json::object* fact : objects_of(*answers.front(), "facts")) {
            if (review && !to_review(*fact)) continue;
            here.items.push_back(
                {{get_string(*fact, "key"), get_string(*fact, "value"), get_string(*fact, "source"),
                  percent(get_double(*fact, "effective_confidence")), get_string(*fact, "date")},
                 get_bool(*fact, "injected") ? Style::kNormal : Style::kDim,
                 *fact});
          }
          return std::optional<Load>{};
        }};
    return page;
  }

  std::optional<Page> open(const Page& page, const Item& item, const Place& place) override {
    if (page.is_text()) return std::nullopt;
    Page out;
    out.title = get_string(item.data, "key");
    out.load = {{admin("fact", {{"key", out.title}})},
                [zone = place.zone](const Answers& answers, Page& here) {
                  here.text.clear();
                  if (const auto failure = failure_of(answers)) {
                    here.error = *failure;
                  } else {
                    fact_text(*answers.front(), zone, here.text);
                  }
                  return std::optional<Load>{};
                }};
    return out;
  }

  Reaction key(const Key& key, const Page& page, const Item* item, const Place& place) override {
    Reaction out;
    if (page.is_text()) return out;
    if (key.is('v')) {
      review_ = !review_;
      out.used = true;
      out.page = list(place);
    } else if (item != nullptr && key.is('x')) {
      out.used = true;
      out.confirm = forget(item->data);
    } else if (item != nullptr && key.is('s')) {
      out.used = true;
      const std::string name = get_string(item->data, "key"),
                        holder = get_string(item->data, "holder");
      const std::string value = get_string(item->data, "value");
      out.confirm =
          Confirm{"Keep " + name + " as stated, for ever, for " + holder + "?", name + ": " + value,
                  std::nullopt, admin("set", {{"key", name}, {"value", value}, {"as", holder}})};
    }
    return out;
  }

  std::string hints(const Page& page) const override {
    if (page.is_text()) return {};
    return review_ ? "v all · s keep · x forget" : "Enter history · v review · s keep · x forget";
  }
  std::string help() const override {
    return "  Enter: every value it had, with message and quote;  v: those to be reviewed "
           "(concluded,\n"
           "  and not heard for 90 days or too unsure to be told);  s keeps one;  x forgets one";
  }

 private:
  static Confirm forget(const json::object& fact) {
    const std::string name = get_string(fact, "key"), holder = get_string(fact, "holder");
    json::object what{{"key", name}, {"as", holder}};
    Confirm out;
    out.question = "Forget " + name + " of " + holder + "?";
    out.action = admin("forget", what);
    what["preview"] = true;
    out.preview = admin("forget", std::move(what));
    return out;
  }

  bool review_ = false;
};

// --- 8 -----------------------------------------------------------------------------------------

void add_line(Page& page, const std::string& text, Style style = Style::kNormal) {
  page.items.push_back({{text}, style, {}});
}

void add_warnings(Page& page, const json::object& status) {
  add_line(page, "── Health: " + get_string(status, "health"), Style::kStrong);
  for (const json::object* warning : objects_of(status, "warnings")) {
    const Style style = get_bool(*warning, "red") ? Style::kBad : Style::kWarning;
    add_line(page, "  " + get_string(*warning, "code") + ": " + get_string(*warning, "message"),
             style);
    const std::string remedy = get_string(*warning, "remedy");
    if (!remedy.empty()) add_line(page, "    → " + remedy);
  }
}

void add_workers(Page& page, const json::object& status, const std::string& zone) {
  add_line(page, "── Sources", Style::kStrong);
  for (const json::object* source : objects_of(status, "sources")) {
    const std::string state = get_string(*source, "state");
    if (state == "absent") continue;
    add_line(page,
             "  " + get_string(*source, "carrier") + " " + state + ", newest " +
                 short_time(get_string(*source, "newest_at"), zone) + ", " +
                 get_string(*source, "path"),
             state == "ok" || state == "retired" ? Style::kNormal : Style::kWarning);
  }
  add_line(page, "── Workers", Style::kStrong);
  for (const json::object* worker : objects_of(status, "workers")) {
    const std::string failure = get_string(*worker, "failure");
    const std::int64_t lag = get_int(*worker, "lag");
    add_line(page,
             "  " + get_string(*worker, "name") + " " + get_string(*worker, "state") + ", " +
                 (lag == 0 ? "nothing before it" : format_count(lag) + " before it") +
                 (failure.empty() ? "" : ": " + failure),
             failure.empty() ? Style::kNormal : Style::kWarning);
  }
}

void add_spend(Page& page, const json::object& status) {
  const auto* spend = find_object(status, "spend");
  if (spend == nullptr) return;
  add_line(page, "── Cost today", Style::kStrong);
  char usd[32];
  std::snprintf(usd, sizeof usd, "%.4f", get_double(*spend, "usd"));
  add_line(page, "  " + format_count(get_int(*spend, "calls")) + " calls, " +
                     format_count(get_int(*spend, "tokens")) + " tokens, $" + usd);
}

class HealthView final : public View {
 public:
  std::string_view name() const override { return "Health"; }

  Page list(const Place& place) override {
    Page page;
    page.title = "Health";
    page.columns = {{"", 0, false}};
    page.load = {{{"GET", "/v1/status", {}}, admin("parked_list", {})},
                 [zone = place.zone](const Answers& answers, Page& here) {
                   here.items.clear();
                   if (const auto failure = failure_of(answers)) {
                     here.error = *failure;
                     return std::optional<Load>{};
                   }
                   fill(*answers[0], *answers[1], zone, here);
                   return std::optional<Load>{};
                 }};
    return page;
  }

  Reaction key(const Key& key, const Page&, const Item* item, const Place&) override {
    Reaction out;
    if (!key.is('t')) return out;
    out.used = true;
    const std::int64_t event = item == nullptr ? 0 : get_int(item->data, "event");
    if (event == 0) {
      out.say = "go to something that was set aside first";
      return out;
    }
    out.confirm =
        Confirm{"Try event " + std::to_string(event) + " (" + get_string(item->data, "worker") +
                    ", message " + std::to_string(get_int(item->data, "message")) + ") again?",
                get_string(item->data, "reason") + ": " + get_string(item->data, "detail"),
                std::nullopt, admin("parked_retry", {{"event", event}})};
    return out;
  }

  std::string hints(const Page&) const override { return "t try again"; }
  std::string help() const override {
    return "  warnings with their remedies, sources, workers, cost, what was set aside;\n"
           "  t tries again what is marked";
  }

 private:
  static void fill(const json::object& status, const json::object& parked, const std::string& zone,
                   Page& page) {
    add_warnings(page, status);
    const auto items = objects_of(parked, "parked");
    add_line(page, "── Set aside: " + std::to_string(items.size()), Style::kStrong);
    for (const json::object* row : items) {
      page.items.push_back(
          {{"  " + get_string(*row, "worker") + " message " +
            std::to_string(get_int(*row, "message")) + ", " + get_string(*row, "reason") + ": " +
            get_string(*row, "detail") + (get_bool(*row, "retry") ? " (to be tried again)" : "")},
           Style::kWarning,
           *row});
    }
    add_workers(page, status, zone);
    add_spend(page, status);
    page.note = get_string(status, "store");
  }
};

}  // namespace

std::unique_ptr<View> make_facts_view() {
  return std::make_unique<FactsView>();
}
std::unique_ptr<View> make_health_view() {
  return std::make_unique<HealthView>();
}

}  // namespace clawmark::tui
