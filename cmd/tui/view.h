#pragma once
// What the six views (and two more) have in common: pages of rows or of text, what has to be asked
// for them, and what a view does of its own. No terminal and no socket here.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "cmd/tui/screen.h"

namespace clawmark::tui {

struct Key {
  enum class Kind {
    kCharacter,
    kUp,
    kDown,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kEscape,
    kTab,
    kBackTab,
    kBackspace,
    kOther,
  };
  Kind kind = Kind::kOther;
  char32_t character = 0;
  bool is(char32_t c) const { return kind == Kind::kCharacter && character == c; }
};

// A question to the interface (docs/api.md).
struct Request {
  std::string method, target;
  json::object body;
};
Request admin(std::string_view command, json::object params);

using Answers = std::vector<Result<json::object>>;

struct Page;
// What a page is made of: asked for together, filled in when all has been answered. `fill` may want
// more.
struct Load {
  std::vector<Request> requests;
  std::function<std::optional<Load>(const Answers&, Page&)> fill;
};

struct Column {
  std::string name;
  int width = 0;  // 0: shares what is left
  bool right = false;
};

struct Item {
  std::vector<std::string> cells;
  Style style = Style::kNormal;
  json::object data;
};

struct Page {
  std::string title;
  std::vector<Column> columns;  // none: a text
  std::vector<Item> items;
  std::string text;
  std::string empty = "nothing here";
  std::string note;  // beside the title
  Load load;
  // Where one is in it.
  std::size_t cursor = 0, top = 0;
  std::string filter, error;
  bool loading = true;
  bool is_text() const { return columns.empty(); }
};

// Asks a person before something is done, and names it. With `preview` its text is fetched first.
struct Confirm {
  std::string question;
  std::string details;
  std::optional<Request> preview;
  Request action;
};

// A line to be typed.
struct Input {
  std::string label, text;
  std::function<void(const std::string&)> done;
};

// What a view makes of a key.
struct Reaction {
  bool used = false;
  std::optional<Page> page;  // in place of the one that is shown
  std::optional<Page> open;  // on top of it
  std::optional<Confirm> confirm;
  std::optional<Input> input;
  bool reload = false;
  std::string say;
};

// The conversation that was chosen in the first view.
struct Place {
  std::string session_id, session_key;
  std::string zone = "UTC";
  bool operator==(const Place&) const = default;
};

class View {
 public:
  virtual ~View() = default;
  virtual std::string_view name() const = 0;
  virtual Page list(const Place& place) = 0;
  virtual std::optional<Page> open(const Page&, const Item&, const Place&) { return std::nullopt; }
  virtual Reaction key(const Key&, const Page&, const Item*, const Place&) { return {}; }
  // Keys of its own, for the last line; for the help.
  virtual std::string hints(const Page&) const { return {}; }
  virtual std::string help() const { return {}; }
  // A list that depends on the place is loaded again when that has changed.
  virtual bool depends_on_place() const { return false; }
};

std::unique_ptr<View> make_conversations_view();
std::unique_ptr<View> make_summaries_view();
std::unique_ptr<View> make_context_view();
std::unique_ptr<View> make_world_view();
std::unique_ptr<View> make_episodes_view();
std::unique_ptr<View> make_files_view();
std::unique_ptr<View> make_facts_view();
std::unique_ptr<View> make_health_view();

// Helpers for views.
// "2026-11-19 17:45" of an ISO time in a zone; empty for none.
std::string short_time(std::string_view iso, std::string_view zone);
// One line of any text.
std::string flat(std::string_view text);
// A text page that shows `text` of the answer.
Page text_page(std::string title, Request request);
// The first error among the answers: what is shown in place of the page.
std::optional<std::string> failure_of(const Answers& answers);
std::vector<const json::object*> objects_of(const json::object& answer, std::string_view key);

}  // namespace clawmark::tui
