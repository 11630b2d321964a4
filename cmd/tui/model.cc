#include "cmd/tui/model.h"

#include <algorithm>

#include "base/utf8.h"
#include "cmd/tui/glyphs.h"

namespace clawmark::tui {
namespace {

constexpr std::size_t kInputMax = 400;  // characters of a line that is typed

void erase_last(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

bool edit(const Key& key, std::string& text) {
  if (key.kind == Key::Kind::kBackspace) {
    erase_last(text);
    return true;
  }
  if (key.kind != Key::Kind::kCharacter || key.character < 0x20) return false;
  if (count_code_points(text) < kInputMax) append_code_point(text, key.character);
  return true;
}

}  // namespace

Model::Model(ModelOptions options) : options_(std::move(options)) {
  tabs_[0].view = make_conversations_view();
  tabs_[1].view = make_summaries_view();
  tabs_[2].view = make_context_view();
  tabs_[3].view = make_world_view();
  tabs_[4].view = make_episodes_view();
  tabs_[5].view = make_files_view();
  tabs_[6].view = make_facts_view();
  tabs_[7].view = make_health_view();
  place_.zone = options_.zone;
}

Model::~Model() = default;

// --- questions ---------------------------------------------------------------------------------

Ask Model::ask(Request request, Pending pending) {
  if (request.target.starts_with("/v1/admin/")) {
    auto& params = request.body["params"];
    if (!params.is_object()) params.emplace_object();
    for (const auto& eye : options_.eyes) {
      if (!params.get_object().contains(eye.key())) params.get_object()[eye.key()] = eye.value();
    }
  }
  const std::uint64_t id = next_++;
  pending_[id] = pending;
  return {id, std::move(request)};
}

void Model::ask_status(std::vector<Ask>& out) {
  if (status_asked_) return;
  status_asked_ = true;
  out.push_back(ask({"GET", "/v1/status", {}}, {Purpose::kStatus, 0, 0}));
}

void Model::load(Shown& shown, Load load, std::vector<Ask>& out) {
  shown.serial = next_++;
  shown.page.loading = true;
  shown.answers.assign(load.requests.size(), std::nullopt);
  shown.loading = std::move(load);
  for (std::size_t part = 0; part < shown.loading->requests.size(); ++part) {
    out.push_back(ask(shown.loading->requests[part], {Purpose::kPage, shown.serial, part}));
  }
  if (shown.loading->requests.empty()) filled(shown, out);
}

void Model::filled(Shown& shown, std::vector<Ask>& out) {
  Answers answers;
  for (auto& answer : shown.answers) answers.push_back(std::move(*answer));
  const Load done = *std::exchange(shown.loading, std::nullopt);
  Page& page = shown.page;
  page.error.clear();
  auto more = done.fill(answers, page);
  if (more) return load(shown, *std::move(more), out);
  page.loading = false;
  keep_in_view(page);
}

void Model::reload(std::vector<Ask>& out) {
  if (Shown* here = shown()) load(*here, here->page.load, out);
}

std::vector<Ask> Model::start() {
  std::vector<Ask> out;
  ask_status(out);
  go_to(0, out);
  return out;
}

std::vector<Ask> Model::tick() {
  std::vector<Ask> out;
  ask_status(out);
  return out;
}

std::vector<Ask> Model::answered(std::uint64_t id, Result<json::object> answer) {
  std::vector<Ask> out;
  const auto found = pending_.find(id);
  if (found == pending_.end()) return out;
  const Pending pending = found->second;
  pending_.erase(found);
  switch (pending.purpose) {
    case Purpose::kStatus:
      status_asked_ = false;
      if (answer.ok()) place_.zone = get_string(*answer, "timezone", place_.zone);
      status_ = std::move(answer);
      break;
    case Purpose::kPreview:
      if (!confirm_) break;
      if (!answer.ok()) {
        say_ = answer.error().message;
        confirm_.reset();
        break;
      }
      confirm_->details = get_string(*answer, "text");
      // The code at its end is for models; here a person answers.
      confirm_->details.resize(
          std::min(confirm_->details.size(), confirm_->details.rfind("To do it, ask again")));
      confirm_ready_ = get_bool(*answer, "ok", true);
      break;
    case Purpose::kAction:
      action_answered(answer, out);
      break;
    case Purpose::kPage:
      page_answered(pending, std::move(answer), out);
      break;
  }
  return out;
}

void Model::page_answered(const Pending& pending, Result<json::object> answer,
                          std::vector<Ask>& out) {
  for (Tab& tab : tabs_) {
    for (Shown& shown : tab.pages) {
      if (shown.serial != pending.page || !shown.loading) continue;
      shown.answers[pending.part] = std::move(answer);
      const bool all = std::all_of(shown.answers.begin(), shown.answers.end(),
                                   [](const auto& one) { return one.has_value(); });
      if (all) filled(shown, out);
      return;
    }
  }
}

void Model::action_answered(const Result<json::object>& answer, std::vector<Ask>& out) {
  acting_ = false;
  if (!answer.ok()) {
    say_ = answer.error().message;
    return;
  }
  const std::int64_t retried = get_int(*answer, "retried", -1);
  say_ = retried >= 0 ? std::to_string(retried) + " to be tried again"
                      : flat(get_string(*answer, "text", "done"));
  // What was changed may be shown anywhere.
  for (Tab& tab : tabs_) tab.loaded = false;
  if (tab().pages.size() > 1) tab().pages.resize(1);
  tab().loaded = true;
  reload(out);
  ask_status(out);
}

// --- where one is ------------------------------------------------------------------------------

Model::Shown* Model::shown() {
  return tab().pages.empty() ? nullptr : &tab().pages.back();
}
const Model::Shown* Model::shown() const {
  return tab().pages.empty() ? nullptr : &tab().pages.back();
}

std::vector<std::size_t> Model::visible(const Page& page) const {
  std::vector<std::size_t> out;
  const std::string wanted = fold_case(page.filter);
  for (std::size_t i = 0; i < page.items.size(); ++i) {
    bool passes = wanted.empty();
    for (const std::string& cell : page.items[i].cells) {
      passes = passes || fold_case(cell).find(wanted) != std::string::npos;
    }
    if (passes) out.push_back(i);
  }
  return out;
}

std::vector<std::string> Model::lines(const Page& page) const {
  std::vector<std::string> all = wrap(page.text, columns_ - 2);
  if (page.filter.empty()) return all;
  const std::string wanted = fold_case(page.filter);
  std::erase_if(all, [&](const std::string& line) {
    return fold_case(line).find(wanted) == std::string::npos;
  });
  return all;
}

std::size_t Model::length(const Page& page) const {
  return page.is_text() ? lines(page).size() : visible(page).size();
}

const Item* Model::item() const {
  const Shown* here = shown();
  if (here == nullptr || here->page.is_text()) return nullptr;
  const auto rows = visible(here->page);
  return here->page.cursor < rows.size() ? &here->page.items[rows[here->page.cursor]] : nullptr;
}

// Tabs, health, title and foot take a row each; so do the names of columns.
int Model::page_rows(const Page& page) const {
  return std::max(1, rows_ - (page.is_text() ? 4 : 5));
}

void Model::keep_in_view(Page& page) const {
  const std::size_t all = length(page), rows = static_cast<std::size_t>(page_rows(page));
  if (page.is_text()) {
    page.cursor = page.top = std::min(page.cursor, all > rows ? all - rows : 0);
    return;
  }
  page.cursor = std::min(page.cursor, all == 0 ? 0 : all - 1);
  if (page.cursor < page.top) page.top = page.cursor;
  if (page.cursor >= page.top + rows) page.top = page.cursor - rows + 1;
  if (page.top + rows > all) page.top = all > rows ? all - rows : 0;
}

void Model::resize(int rows, int columns) {
  rows_ = rows;
  columns_ = columns;
  for (Tab& tab : tabs_) {
    for (Shown& shown : tab.pages) keep_in_view(shown.page);
  }
}

void Model::remember_place() {
  Tab& first = tabs_[0];
  if (first.pages.empty() || first.pages.front().page.items.empty()) return;
  const Page& page = first.pages.front().page;
  const auto rows = visible(page);
  if (page.cursor >= rows.size()) return;
  const json::object& data = page.items[rows[page.cursor]].data;
  place_.session_id = get_string(data, "session_id");
  place_.session_key = get_string(data, "session_key");
}

void Model::go_to(std::size_t to, std::vector<Ask>& out) {
  remember_place();
  current_ = to;
  Tab& here = tab();
  const bool elsewhere = here.view->depends_on_place() && here.loaded_for != place_;
  if (here.loaded && !elsewhere) return;
  here.loaded = true;
  here.loaded_for = place_;
  Shown fresh;
  fresh.page = here.view->list(place_);
  if (!elsewhere && !here.pages.empty()) {
    // Looked at before: one stays where one was.
    fresh.page.cursor = here.pages.front().page.cursor;
    fresh.page.filter = here.pages.front().page.filter;
  }
  here.pages.clear();
  here.pages.push_back(std::move(fresh));
  load(here.pages.back(), here.pages.back().page.load, out);
}

void Model::back() {
  Shown* here = shown();
  if (here != nullptr && !here->page.filter.empty()) {
    here->page.filter.clear();
    keep_in_view(here->page);
  } else if (tab().pages.size() > 1) {
    tab().pages.pop_back();
  } else {
    done_ = true;
  }
}

// --- keys --------------------------------------------------------------------------------------

std::vector<Ask> Model::key(const Key& key) {
  std::vector<Ask> out;
  say_.clear();
  if (confirm_) {
    confirming(key, out);
    return out;
  }
  if (help_) {
    if (key.kind == Key::Kind::kDown || key.is('j')) {
      ++help_top_;
    } else if (key.kind == Key::Kind::kUp || key.is('k')) {
      help_top_ = std::max(0, help_top_ - 1);
    } else {
      help_ = false;
    }
    return out;
  }
  if (typed(key) || moved(key)) return out;
  navigated(key, out);
  return out;
}

// A line that is being typed takes all keys.
bool Model::typed(const Key& key) {
  if (filtering_) {
    Shown* here = shown();
    if (here == nullptr || key.kind == Key::Kind::kEnter) {
      filtering_ = false;
    } else if (key.kind == Key::Kind::kEscape) {
      filtering_ = false;
      here->page.filter.clear();
    } else if (edit(key, here->page.filter)) {
      here->page.cursor = here->page.top = 0;
    }
    if (here != nullptr) keep_in_view(here->page);
    return true;
  }
  if (!input_) return false;
  if (key.kind == Key::Kind::kEscape) {
    input_.reset();
  } else if (key.kind == Key::Kind::kEnter) {
    const Input done = *std::exchange(input_, std::nullopt);
    done.done(done.text);
    tab().loaded = false;  // navigated() loads it again
    return false;
  } else {
    edit(key, input_->text);
  }
  return true;
}

bool Model::confirming(const Key& key, std::vector<Ask>& out) {
  if (key.is('y') && confirm_ready_) {
    acting_ = true;
    out.push_back(ask(confirm_->action, {Purpose::kAction, 0, 0}));
    confirm_.reset();
  } else if (key.is('n') || key.is('q') || key.kind == Key::Kind::kEscape) {
    confirm_.reset();
    say_ = "nothing was changed";
  }
  return true;
}

bool Model::moved(const Key& key) {
  Shown* here = shown();
  if (here == nullptr) return false;
  Page& page = here->page;
  const std::size_t all = length(page), step = static_cast<std::size_t>(page_rows(page));
  std::size_t to = page.cursor;
  if (key.kind == Key::Kind::kUp || key.is('k')) {
    to = to == 0 ? 0 : to - 1;
  } else if (key.kind == Key::Kind::kDown || key.is('j')) {
    ++to;
  } else if (key.kind == Key::Kind::kPageUp) {
    to = to > step ? to - step : 0;
  } else if (key.kind == Key::Kind::kPageDown || key.is(' ')) {
    to += step;
  } else if (key.kind == Key::Kind::kHome || key.is('g')) {
    to = 0;
  } else if (key.kind == Key::Kind::kEnd || key.is('G')) {
    to = all;
  } else {
    return false;
  }
  page.cursor = to;
  keep_in_view(page);
  return true;
}

void Model::navigated(const Key& key, std::vector<Ask>& out) {
  if (!tab().loaded) return go_to(current_, out);  // a line was typed
  Shown* here = shown();
  if (here != nullptr) {
    Reaction reaction = tab().view->key(key, here->page, item(), place_);
    if (reaction.used) return apply(std::move(reaction), out);
  }
  if (key.kind == Key::Kind::kCharacter && key.character >= '1' && key.character <= '8') {
    go_to(key.character - '1', out);
  } else if (key.kind == Key::Kind::kEnter) {
    open_item(out);
  } else if (key.kind == Key::Kind::kEscape || key.is('q')) {
    back();
  } else if (key.is('r')) {
    reload(out);
    ask_status(out);
  } else if (key.is('/')) {
    filtering_ = here != nullptr;
  } else if (key.is('?')) {
    help_ = true;
    help_top_ = 0;
  } else if (key.is('Q')) {
    done_ = true;
  }
}

void Model::open_item(std::vector<Ask>& out) {
  const Item* chosen = item();
  if (chosen == nullptr || shown()->page.loading) return;
  remember_place();
  auto page = tab().view->open(shown()->page, *chosen, place_);
  if (!page) return;
  Shown fresh;
  fresh.page = *std::move(page);
  tab().pages.push_back(std::move(fresh));
  load(tab().pages.back(), tab().pages.back().page.load, out);
}

void Model::apply(Reaction reaction, std::vector<Ask>& out) {
  if (!reaction.say.empty()) say_ = reaction.say;
  if (reaction.page) {
    Shown& here = *shown();
    here.page = *std::move(reaction.page);
    load(here, here.page.load, out);
  }
  if (reaction.open) {
    Shown fresh;
    fresh.page = *std::move(reaction.open);
    tab().pages.push_back(std::move(fresh));
    load(tab().pages.back(), tab().pages.back().page.load, out);
  }
  if (reaction.reload) reload(out);
  if (reaction.input) input_ = std::move(reaction.input);
  if (!reaction.confirm) return;
  if (options_.store_only) {
    say_ = "this is a store looked at by itself (--db): nothing can be changed";
    return;
  }
  if (acting_) {
    say_ = "one moment: the last change is under way";
    return;
  }
  confirm_ = std::move(reaction.confirm);
  confirm_ready_ = !confirm_->preview;
  if (confirm_->preview) out.push_back(ask(*confirm_->preview, {Purpose::kPreview, 0, 0}));
}

}  // namespace clawmark::tui
