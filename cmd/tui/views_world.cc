// 4 the world model, 5 what happened, 6 large contents and files.

#include <algorithm>
#include <array>
#include <cmath>

#include "cmd/tui/view.h"

namespace clawmark::tui {
namespace {

constexpr std::array<const char*, 9> kTypes = {
    "", "project", "component", "decision", "task", "person", "constraint", "concept", "file"};

const json::object& details_of(const json::object& answer) {
  static const json::object kNone;
  const auto* found = find_object(answer, "details");
  return found == nullptr ? kNone : *found;
}

std::string percent(double value) {
  return std::to_string(std::lround(value * 100)) + "%";
}

// Fills a list from an answer; what failed is shown in its place.
template <class Rows>
Load list_load(Request request, const Rows& rows) {
  return {{std::move(request)}, [rows](const Answers& answers, Page& page) {
            page.items.clear();
            if (!answers.front().ok() || !get_bool(*answers.front(), "ok", true)) {
              page.error = failure_of(answers).value_or("");
            } else {
              rows(*answers.front(), page);
            }
            return std::optional<Load>{};
          }};
}

// --- 4 -----------------------------------------------------------------------------------------

class WorldView final : public View {
 public:
  std::string_view name() const override { return "World"; }

  Page list(const Place& place) override {
    Page page;
    const std::string type = kTypes[type_];
    page.title = type.empty() ? "World model: all types" : "World model: " + type;
    page.columns = {{"type", 10, false}, {"name", 0, false},     {"status", 9, false},
                    {"sure", 4, true},   {"relations", 9, true}, {"confirmed", 10, false}};
    page.empty = "nothing of that kind is known";
    json::object params{{"limit", 500}};
    if (!type.empty()) params["nodeType"] = type;
    page.load = list_load(
        admin("world", std::move(params)),
        [zone = place.zone](const json::object& answer, Page& here) { rows(answer, zone, here); });
    return page;
  }

  std::optional<Page> open(const Page& page, const Item& item, const Place&) override {
    if (page.is_text()) return std::nullopt;
    return text_page(get_string(item.data, "type") + " " + get_string(item.data, "name"),
                     admin("graph", {{"action", "node"},
                                     {"name", get_string(item.data, "name")},
                                     {"nodeType", get_string(item.data, "type")}}));
  }

  Reaction key(const Key& key, const Page& page, const Item*, const Place& place) override {
    Reaction out;
    const bool forward = key.kind == Key::Kind::kTab;
    if (page.is_text() || (!forward && key.kind != Key::Kind::kBackTab)) return out;
    type_ = (type_ + (forward ? 1 : kTypes.size() - 1)) % kTypes.size();
    out.used = true;
    out.page = list(place);
    return out;
  }

  std::string hints(const Page& page) const override {
    return page.is_text() ? std::string() : "Enter relations · Tab type";
  }
  std::string help() const override {
    return "  things and how sure they are by now;  Tab, Shift-Tab: one type after the other;\n"
           "  Enter: what was said of it, and its relations";
  }

 private:
  static void rows(const json::object& answer, const std::string& zone, Page& page) {
    const auto edges = objects_of(answer, "edges");
    for (const json::object* node : objects_of(answer, "nodes")) {
      const std::string type = get_string(*node, "type"), key = get_string(*node, "key");
      const auto ties = std::count_if(edges.begin(), edges.end(), [&](const json::object* edge) {
        return (get_string(*edge, "from_type") == type && get_string(*edge, "from") == key) ||
               (get_string(*edge, "to_type") == type && get_string(*edge, "to") == key);
      });
      const bool replaced = node->contains("valid_to");
      page.items.push_back(
          {{type, get_string(*node, "name"), replaced ? "replaced" : get_string(*node, "status"),
            percent(get_double(*node, "effective_confidence")),
            ties > 0 ? std::to_string(ties) : "",
            short_time(get_string(*node, "last_confirmed"), zone).substr(0, 10)},
           replaced ? Style::kOld : Style::kNormal,
           *node});
    }
    if (get_bool(answer, "cut")) page.note = "only the newest";
  }

  std::size_t type_ = 0;
};

// --- 5 -----------------------------------------------------------------------------------------

class EpisodesView final : public View {
 public:
  std::string_view name() const override { return "Episodes"; }

  Page list(const Place&) override {
    Page page;
    page.title = "What happened, salience from " + std::to_string(tenths_ * 10) + "%";
    page.columns = {
        {"date", 10, false}, {"type", 12, false}, {"salience", 8, true}, {"what", 0, false}};
    page.empty = "no such episode is known";
    page.load = list_load(
        admin("episodes", {{"action", "list"}, {"minSalience", tenths_ / 10.0}, {"limit", 100}}),
        [](const json::object& answer, Page& here) {
          for (const json::object* row : objects_of(details_of(answer), "episodes")) {
            const double salience = get_double(*row, "salience");
            here.items.push_back({{get_string(*row, "date"), get_string(*row, "type"),
                                   percent(salience), get_string(*row, "title")},
                                  salience < 0.7 ? Style::kDim : Style::kNormal,
                                  *row});
          }
        });
    return page;
  }

  std::optional<Page> open(const Page& page, const Item& item, const Place&) override {
    if (page.is_text()) return std::nullopt;
    return text_page(get_string(item.data, "title"),
                     admin("explain", {{"line", std::to_string(get_int(item.data, "message"))}}));
  }

  Reaction key(const Key& key, const Page& page, const Item*, const Place& place) override {
    Reaction out;
    const bool more = key.is('+') || key.is('=');
    if (page.is_text() || (!more && !key.is('-'))) return out;
    out.used = true;
    tenths_ = std::clamp(tenths_ + (more ? 1 : -1), 0, 9);
    out.page = list(place);
    return out;
  }

  std::string hints(const Page& page) const override {
    return page.is_text() ? std::string() : "Enter why · + − salience";
  }
  std::string help() const override {
    return "  decisions, changes of plan, blockers, breakthroughs;  + − only what matters more, "
           "less;\n"
           "  Enter: the message that it rests on";
  }

 private:
  int tenths_ = 0;
};

// --- 6 -----------------------------------------------------------------------------------------

class FilesView final : public View {
 public:
  std::string_view name() const override { return "Files"; }

  Page list(const Place& place) override {
    Page page;
    page.title = "Large contents, and files that were spoken of";
    page.columns = {{"id", 20, false},
                    {"name", 0, false},
                    {"kind", 10, false},
                    {"size", 12, true},
                    {"said", 10, false}};
    page.empty = "none";
    page.load = list_load(admin("files", {{"action", "list"}, {"limit", 50}}),
                          [zone = place.zone](const json::object& answer, Page& here) {
                            rows(details_of(answer), zone, here);
                          });
    return page;
  }

  std::optional<Page> open(const Page& page, const Item& item, const Place&) override {
    if (page.is_text()) return std::nullopt;
    from_ = 1;
    id_ = get_string(item.data, "id", get_string(item.data, "name"));
    return content();
  }

  Reaction key(const Key& key, const Page& page, const Item*, const Place&) override {
    Reaction out;
    if (!page.is_text() || !id_.starts_with("lf_") || (!key.is('<') && !key.is('>'))) return out;
    out.used = true;
    if (key.is('<') && from_ == 1) {
      out.say = "this is the beginning";
      return out;
    }
    from_ = std::max<std::int64_t>(1, from_ + (key.is('>') ? kLines : -kLines));
    out.page = content();
    return out;
  }

  std::string hints(const Page& page) const override {
    if (!page.is_text()) return "Enter read";
    return id_.starts_with("lf_") ? "< > backward, forward" : "";
  }
  std::string help() const override {
    return "  Enter reads one back from where it is kept;  < > by " + std::to_string(kLines) +
           " lines";
  }

 private:
  static constexpr std::int64_t kLines = 200;

  Page content() const {
    return text_page(
        id_,
        admin("files", {{"action", "get"}, {"id", id_}, {"fromLine", from_}, {"lines", kLines}}));
  }
  static void rows(const json::object& found, const std::string& zone, Page& page) {
    for (const json::object* file : objects_of(found, "files")) {
      page.items.push_back({{get_string(*file, "id"), get_string(*file, "name"),
                             get_string(*file, "kind"), std::to_string(get_int(*file, "bytes")),
                             short_time(get_string(*file, "said_at"), zone).substr(0, 10)},
                            Style::kNormal,
                            *file});
    }
    for (const json::object* node : objects_of(found, "nodes")) {
      page.items.push_back({{"", get_string(*node, "name"), "spoken of", "",
                             short_time(get_string(*node, "last_confirmed"), zone).substr(0, 10)},
                            Style::kDim,
                            *node});
    }
  }

  std::string id_;
  std::int64_t from_ = 1;
};

}  // namespace

std::unique_ptr<View> make_world_view() {
  return std::make_unique<WorldView>();
}
std::unique_ptr<View> make_episodes_view() {
  return std::make_unique<EpisodesView>();
}
std::unique_ptr<View> make_files_view() {
  return std::make_unique<FilesView>();
}

}  // namespace clawmark::tui
