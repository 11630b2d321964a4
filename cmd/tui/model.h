#pragma once
// The program without its terminal: keys and answers go in, questions and a drawn screen come out.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/tui/screen.h"
#include "cmd/tui/view.h"

namespace clawmark::tui {

// A question on its way; its answer comes back under this number.
struct Ask {
  std::uint64_t id = 0;
  Request request;
};

struct ModelOptions {
  json::object eyes;        // agent, as: added to every question
  bool store_only = false;  // --db: nothing can be changed
  std::string store;        // its path, for the help
  std::string zone = "UTC";
};

class Model {
 public:
  explicit Model(ModelOptions options);
  ~Model();

  std::vector<Ask> start();
  std::vector<Ask> key(const Key& key);
  std::vector<Ask> answered(std::uint64_t id, Result<json::object> answer);
  // Now and then: how is it?
  std::vector<Ask> tick();
  void resize(int rows, int columns);
  bool done() const { return done_; }
  // A line is being typed.
  bool typing() const { return filtering_ || input_.has_value(); }

  Screen draw() const;

 private:
  enum class Purpose { kPage, kStatus, kPreview, kAction };
  struct Pending {
    Purpose purpose = Purpose::kPage;
    std::uint64_t page = 0;  // serial of the page
    std::size_t part = 0;
  };
  struct Shown {  // a page, and what of it is still asked for
    Page page;
    std::uint64_t serial = 0;
    std::vector<std::optional<Result<json::object>>> answers;
    std::optional<Load> loading;
  };
  struct Tab {
    std::unique_ptr<View> view;
    std::vector<Shown> pages;  // the last one is shown
    Place loaded_for;
    bool loaded = false;
  };

  // Keys.
  bool typed(const Key& key);
  bool confirming(const Key& key, std::vector<Ask>& out);
  bool moved(const Key& key);
  void navigated(const Key& key, std::vector<Ask>& out);
  void apply(Reaction reaction, std::vector<Ask>& out);
  void go_to(std::size_t tab, std::vector<Ask>& out);
  void back();
  void open_item(std::vector<Ask>& out);

  // Questions.
  void load(Shown& shown, Load load, std::vector<Ask>& out);
  void reload(std::vector<Ask>& out);
  void filled(Shown& shown, std::vector<Ask>& out);
  Ask ask(Request request, Pending pending);
  void ask_status(std::vector<Ask>& out);
  void page_answered(const Pending& pending, Result<json::object> answer, std::vector<Ask>& out);
  void action_answered(const Result<json::object>& answer, std::vector<Ask>& out);

  // What is shown.
  Tab& tab() { return tabs_[current_]; }
  const Tab& tab() const { return tabs_[current_]; }
  Shown* shown();
  const Shown* shown() const;
  std::vector<std::size_t> visible(const Page& page) const;  // rows that pass the filter
  std::vector<std::string> lines(const Page& page) const;    // of a text, wrapped and filtered
  std::size_t length(const Page& page) const;
  const Item* item() const;
  int page_rows(const Page& page) const;
  void keep_in_view(Page& page) const;
  void remember_place();

  // Drawing (model_draw.cc).
  void draw_tabs(Screen& screen) const;
  void draw_health(Screen& screen) const;
  void draw_page(Screen& screen, const Shown& shown) const;
  void draw_list(Screen& screen, const Page& page, int first) const;
  void draw_text(Screen& screen, const Page& page, int first) const;
  void draw_foot(Screen& screen) const;
  void draw_help(Screen& screen) const;
  void draw_confirm(Screen& screen) const;
  std::vector<int> widths(const Page& page) const;

  ModelOptions options_;
  std::array<Tab, 8> tabs_;
  std::size_t current_ = 0;
  Place place_;
  int rows_ = 24, columns_ = 80;

  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Pending> pending_;
  std::optional<Result<json::object>> status_;
  bool status_asked_ = false;

  bool help_ = false, done_ = false, acting_ = false;
  int help_top_ = 0;
  std::optional<Confirm> confirm_;
  bool confirm_ready_ = false;
  std::optional<Input> input_;
  bool filtering_ = false;
  std::string say_;
};

}  // namespace clawmark::tui
