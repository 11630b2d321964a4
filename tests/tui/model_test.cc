// Keys in, questions and screens out, without a terminal and without a store.

#include "cmd/tui/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clawmark::tui {
namespace {

using testing::HasSubstr;
using testing::Not;

json::object parsed(std::string_view text) {
  return parse_json(text).value().get_object();
}

Key character(char32_t c) {
  return {Key::Kind::kCharacter, c};
}

// Answers each question by its target; remembers all that were asked.
class Tui : public ::testing::Test {
 protected:
  void SetUp() override {
    answers["/v1/status"] = parsed(R"({"health":"ok","timezone":"UTC","warnings":[],"workers":[],
      "counts":{"messages":101,"facts":2,"parked":0},"store":"s.db"})");
    answers["/v1/admin/conversations"] = parsed(R"({"conversations":[
      {"session_id":"s-1","session_key":"agent:main:telegram:direct:7","lane":"direct","messages":3,
       "last_at":"2026-11-19T17:45:00.000Z","speakers":["Ada"]},
      {"session_id":"s-2","session_key":"agent:main:main","lane":"direct","messages":1,
       "last_at":"2026-11-18T10:00:00.000Z","speakers":[]}]})");
    answers["/v1/admin/facts"] = parsed(R"({"facts":[
      {"key":"user.city","value":"Berlin","source":"user","holder":"person:telegram:7",
       "effective_confidence":1,"date":"2026-11-19","injected":true},
      {"key":"user.pet","value":"a cat","source":"extracted","holder":"person:telegram:7",
       "effective_confidence":0.5,"date":"2026-05-01","days_since_reinforced":202,
       "injected":false}]})");
    answers["/v1/admin/forget"] = parsed(
        R"({"ok":true,"text":"Would forget 1 fact:\n- user.city: Berlin\nTo do it, ask again with confirm \"x\"."})");
    answers["/v1/admin/parked_list"] = parsed(R"({"parked":[{"event":9,"worker":"extract",
      "message":4,"reason":"poison","detail":"no JSON","attempts":3,"retry":false}]})");
    answers["/v1/admin/parked_retry"] = parsed(R"({"ok":true,"retried":1})");
    answers["/v1/admin/set"] = parsed(R"({"ok":true,"text":"Remembered user.pet."})");
    answers["/v1/admin/episodes"] = parsed(R"({"ok":true,"details":{"episodes":[]}})");
    answers["/v1/admin/world"] = parsed(R"({"nodes":[],"edges":[],"cut":false})");
  }

  void answer_all(std::vector<Ask> asks) {
    while (!asks.empty()) {
      std::vector<Ask> more;
      for (Ask& ask : asks) {
        asked.push_back(ask.request);
        const auto found = answers.find(ask.request.target);
        Result<json::object> answer = found != answers.end()
                                          ? Result<json::object>(found->second)
                                          : make_error(ErrorKind::kNotFound, "api", "x",
                                                       "no answer to " + ask.request.target);
        for (Ask& next : model().answered(ask.id, std::move(answer)))
          more.push_back(std::move(next));
      }
      asks = std::move(more);
    }
  }
  Model& model() {
    if (!model_) {
      model_ = std::make_unique<Model>(options);
      answer_all(model_->start());
    }
    return *model_;
  }
  void press(Key key) { answer_all(model().key(key)); }
  void press(std::u32string_view keys) {
    for (const char32_t c : keys) press(character(c));
  }
  void press(Key::Kind kind) { press(Key{kind, 0}); }
  std::string screen() { return model().draw().text(); }
  std::string last_asked() { return asked.back().target + " " + to_text(asked.back().body); }
  bool was_asked(std::string_view target) const {
    return std::any_of(asked.begin(), asked.end(),
                       [&](const Request& one) { return one.target == target; });
  }

  ModelOptions options;
  std::map<std::string, json::object> answers;
  std::vector<Request> asked;

 private:
  std::unique_ptr<Model> model_;
};

TEST_F(Tui, keys_1_to_8_lead_to_the_views_and_their_names_fit_80_columns) {
  const char* names[] = {"1 Conversations", "2 DAG",   "3 Context", "4 World",
                         "5 Episodes",      "6 Files", "7 Facts",   "8 Health"};
  for (int i = 0; i < 8; ++i) {
    press(character(U'1' + static_cast<char32_t>(i)));
    for (const char* name : names) EXPECT_THAT(screen(), HasSubstr(name));
    EXPECT_THAT(screen(), HasSubstr("[" + std::string(names[i]) + "]"));
  }
}

TEST_F(Tui, the_health_bar_says_the_worst) {
  EXPECT_THAT(screen(), HasSubstr("● OK  all read · 101 messages · 2 facts"));
  answers["/v1/status"] = parsed(R"({"health":"red","counts":{"messages":1,"facts":0,"parked":2},
    "workers":[{"name":"extract","lag":12}],"spend":{"calls":3,"usd":1.239},
    "warnings":[{"code":"worker_stuck","red":true},{"code":"parked"}]})");
  answer_all(model().tick());
  EXPECT_THAT(screen(), HasSubstr("▲ RED  worker_stuck (+1) · 2 set aside · 12 to do · "
                                  "$1.24 today · 1 message"));
}

TEST_F(Tui, a_row_is_marked_without_colour_and_moves_within_its_bounds) {
  EXPECT_THAT(screen(), HasSubstr("\n> 2026-11-19"));
  press(U"k");
  EXPECT_THAT(screen(), HasSubstr("\n> 2026-11-19"));
  press(U"jjj");
  EXPECT_THAT(screen(), HasSubstr("\n> 2026-11-18"));
  press(Key::Kind::kHome);
  EXPECT_THAT(screen(), HasSubstr("\n> 2026-11-19"));
}

TEST_F(Tui, a_filter_leaves_what_matches_and_escape_takes_it_away) {
  press(U"7/CITY");
  EXPECT_THAT(screen(), HasSubstr("user.city"));
  EXPECT_THAT(screen(), Not(HasSubstr("user.pet")));
  EXPECT_THAT(screen(), HasSubstr(" / CITY▮"));
  press(Key::Kind::kEnter);
  EXPECT_THAT(screen(), HasSubstr("filter: CITY"));
  press(Key::Kind::kEscape);
  EXPECT_THAT(screen(), HasSubstr("user.pet"));
  EXPECT_FALSE(model().done());
  press(U"/zzz");
  EXPECT_THAT(screen(), HasSubstr("nothing matches the filter"));
}

TEST_F(Tui, letters_of_a_filter_are_no_commands) {
  press(U"7/xq8");
  EXPECT_FALSE(model().done());
  EXPECT_FALSE(was_asked("/v1/admin/forget"));
  EXPECT_THAT(screen(), HasSubstr("[7 Facts]"));
}

TEST_F(Tui, forgetting_shows_what_goes_names_it_and_waits_for_yes) {
  press(U"7x");
  EXPECT_THAT(last_asked(), HasSubstr(R"("preview":true)"));
  EXPECT_THAT(screen(), HasSubstr("Forget user.city of person:telegram:7?"));
  EXPECT_THAT(screen(), HasSubstr("- user.city: Berlin"));
  EXPECT_THAT(screen(), Not(HasSubstr("confirm")));
  const std::size_t before = asked.size();
  press(U"n");
  EXPECT_EQ(asked.size(), before);
  EXPECT_THAT(screen(), HasSubstr("nothing was changed"));
  press(U"xy");
  bool done = false;
  for (const Request& one : asked) {
    done =
        done || (one.target == "/v1/admin/forget" &&
                 to_text(one.body) == R"({"params":{"key":"user.city","as":"person:telegram:7"}})");
  }
  EXPECT_TRUE(done);
}

TEST_F(Tui, yes_before_the_preview_has_come_does_nothing) {
  press(U"7");
  auto asks = model().key(character(U'x'));
  ASSERT_EQ(asks.size(), 1U);
  EXPECT_TRUE(model().key(character(U'y')).empty());
  EXPECT_THAT(screen(), HasSubstr("looking what that would take away"));
  model().answered(asks[0].id, make_error(ErrorKind::kRetriable, "api", "x", "it is away"));
  EXPECT_THAT(screen(), HasSubstr("it is away"));
  EXPECT_TRUE(model().key(character(U'y')).empty());
}

TEST_F(Tui, a_store_by_itself_is_never_changed) {
  options.store_only = true;
  press(U"7x");
  EXPECT_FALSE(was_asked("/v1/admin/forget"));
  EXPECT_THAT(screen(), HasSubstr("nothing can be changed"));
  press(U"s8");
  press(U"j");
  for (int i = 0; i < 3; ++i) press(U"jt");
  EXPECT_FALSE(was_asked("/v1/admin/set"));
  EXPECT_FALSE(was_asked("/v1/admin/parked_retry"));
}

TEST_F(Tui, review_shows_what_is_unsure_and_keeps_it_by_name) {
  press(U"7v");
  EXPECT_THAT(screen(), HasSubstr("Facts to be reviewed (1)"));
  EXPECT_THAT(screen(), HasSubstr("user.pet"));
  EXPECT_THAT(screen(), Not(HasSubstr("user.city")));
  press(U"s");
  EXPECT_THAT(screen(), HasSubstr("Keep user.pet as stated, for ever, for person:telegram:7?"));
  press(U"y");
  EXPECT_TRUE(was_asked("/v1/admin/set"));
  EXPECT_THAT(screen(), HasSubstr("Remembered user.pet."));
}

TEST_F(Tui, what_was_set_aside_is_tried_again_by_name) {
  press(U"8t");
  EXPECT_THAT(screen(), HasSubstr("go to something that was set aside first"));
  press(U"jjt");
  EXPECT_THAT(screen(), HasSubstr("Try event 9 (extract, message 4) again?"));
  press(U"y");
  EXPECT_TRUE(was_asked("/v1/admin/parked_retry"));
  EXPECT_THAT(screen(), HasSubstr("1 to be tried again"));
}

TEST_F(Tui, tab_and_salience_ask_for_other_rows) {
  press(U"4");
  press(Key::Kind::kTab);
  EXPECT_THAT(last_asked(), HasSubstr(R"("nodeType":"project")"));
  press(Key::Kind::kBackTab);
  press(Key::Kind::kBackTab);
  EXPECT_THAT(last_asked(), HasSubstr(R"("nodeType":"file")"));
  press(U"5++-");
  EXPECT_THAT(screen(), HasSubstr("salience from 10%"));
  EXPECT_THAT(last_asked(), HasSubstr(R"("minSalience":1E-1)"));
}

TEST_F(Tui, an_error_is_shown_where_the_rows_would_be_and_reload_gets_over_it) {
  const json::object facts = answers["/v1/admin/facts"];
  answers.erase("/v1/admin/facts");
  press(U"7");
  EXPECT_THAT(screen(), HasSubstr("no answer to /v1/admin/facts"));
  answers["/v1/admin/facts"] = facts;
  press(U"r");
  EXPECT_THAT(screen(), HasSubstr("user.city"));
}

TEST_F(Tui, hostile_text_cannot_leave_its_row) {
  answers["/v1/admin/facts"] = parsed(R"({"facts":[{"key":"user.a\u001b[2J\r\n\u202ex",
    "value":"\u0007劇場\u200d🎭\n\nsecond","source":"user","holder":"h","date":"d"}]})");
  press(U"7");
  const std::string shown = screen();
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 24);
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_EQ(shown.find("\u202E"), std::string::npos);
  EXPECT_THAT(shown, HasSubstr("劇場🎭 second"));
}

TEST_F(Tui, every_size_can_be_drawn) {
  for (const char32_t view : std::u32string_view(U"12345678")) {
    press(character(view));
    for (const int rows : {1, 2, 5, 6, 7, 24, 100}) {
      for (const int columns : {1, 19, 20, 33, 80, 300}) {
        model().resize(rows, columns);
        const Screen drawn = model().draw();
        EXPECT_EQ(drawn.rows(), rows);
        EXPECT_EQ(drawn.columns(), columns);
      }
    }
  }
}

TEST_F(Tui, summaries_open_to_those_below_and_are_dissolved_by_name) {
  answers["/v1/admin/summaries"] = parsed(R"({"total":3,"summaries":[
      {"id":"sum_9","depth":1,"top":true,"text":"both weeks","said_at":"2026-11-19T10:00:00.000Z",
       "sources":["sum_3","sum_5"]},
      {"id":"sum_5","depth":0,"top":false,"text":"second week","sources":[]},
      {"id":"sum_3","depth":0,"top":false,"text":"first week","sources":[]}]})");
  answers["/v1/admin/expand"] = parsed(R"({"ok":true,"text":"Summary sum_9, of 2 others"})");
  answers["/v1/admin/dissolve"] = parsed(R"({"ok":true,"text":"sum_9 is taken apart"})");
  press(U"2");
  EXPECT_THAT(screen(), HasSubstr("> ▸ sum_9"));
  EXPECT_THAT(screen(), Not(HasSubstr("first week")));
  press(U"o");
  EXPECT_THAT(screen(), HasSubstr("> ▾ sum_9"));
  EXPECT_THAT(screen(), HasSubstr("      sum_3"));
  press(U"jd");
  EXPECT_THAT(screen(), HasSubstr("sum_3 is of messages"));
  press(U"kd");
  EXPECT_THAT(screen(), HasSubstr("Dissolve sum_9? The 2 summaries below it stand for themselves "
                                  "again"));
  press(U"y");
  EXPECT_TRUE(was_asked("/v1/admin/dissolve"));
  EXPECT_THAT(screen(), HasSubstr("sum_9 is taken apart"));
  press(Key::Kind::kEnter);
  EXPECT_THAT(screen(), HasSubstr("Summary sum_9, of 2 others"));
}

TEST_F(Tui, a_ring_of_summaries_ends) {
  answers["/v1/admin/summaries"] = parsed(R"({"summaries":[
      {"id":"sum_1","top":true,"text":"a","sources":["sum_2"]},
      {"id":"sum_2","top":false,"text":"b","sources":["sum_1"]}]})");
  press(U"2ojo");
  EXPECT_THAT(screen(), HasSubstr("> ")) << screen();
  EXPECT_THAT(screen(), HasSubstr("Summaries (10)"));
}

TEST_F(Tui, messages_are_paged_and_forgotten_by_their_number) {
  json::array rows;
  for (int i = 0; i < 50; ++i) {
    rows.push_back(json::object{{"id", std::to_string(100 + i)},
                                {"index", i},
                                {"at", "2026-11-19T17:45:00.000Z"},
                                {"role", "user"},
                                {"speaker", "Ada"},
                                {"text", "line " + std::to_string(i)}});
  }
  answers["/v1/admin/rc_peek"] =
      json::object{{"ok", true}, {"details", json::object{{"messages", rows}, {"total", 120}}}};
  press(Key::Kind::kEnter);
  EXPECT_THAT(screen(), HasSubstr("line 49")) << "the newest is marked";
  press(U"<");
  EXPECT_THAT(last_asked(), HasSubstr(R"("offset":50)"));
  press(U">>");
  EXPECT_THAT(screen(), HasSubstr("these are the newest"));
  press(U"x");
  EXPECT_THAT(screen(), HasSubstr("Forget message 149 of 2026-11-19 17:45?"));
  EXPECT_THAT(last_asked(), HasSubstr(R"("message":"149","preview":true)"));
}

TEST_F(Tui, help_names_every_view_and_its_keys) {
  press(U"?");
  model().resize(80, 80);
  for (const char* part : {"1 Conversations", "2 DAG", "3 Context", "4 World", "5 Episodes",
                           "6 Files", "7 Facts", "8 Health", "dissolves", "salience", "filter"}) {
    EXPECT_THAT(screen(), testing::AnyOf(HasSubstr(part), HasSubstr("+ −"))) << part;
  }
  press(U"z");
  EXPECT_THAT(screen(), HasSubstr("[1 Conversations]"));
}

TEST_F(Tui, q_leaves_from_the_first_page_and_goes_back_from_others) {
  answers["/v1/admin/rc_peek"] = parsed(R"({"ok":true,"details":{"messages":[],"total":0}})");
  press(Key::Kind::kEnter);
  EXPECT_THAT(screen(), HasSubstr("Session s-1"));
  press(U"q");
  EXPECT_FALSE(model().done());
  EXPECT_THAT(screen(), HasSubstr("Conversations (2)"));
  press(U"q");
  EXPECT_TRUE(model().done());
}

TEST_F(Tui, an_answer_to_a_page_that_is_gone_is_dropped) {
  auto asks = model().key(character(U'7'));
  press(U"1");
  for (Ask& ask : asks) model().answered(ask.id, answers["/v1/admin/facts"]);
  EXPECT_THAT(screen(), HasSubstr("[1 Conversations]"));
  EXPECT_TRUE(model().answered(99'999, parsed("{}")).empty());
}

TEST_F(Tui, the_eyes_of_the_command_line_go_with_every_question) {
  options.eyes = parsed(R"({"agent":"work","as":"telegram:7"})");
  press(U"7");
  EXPECT_THAT(last_asked(), HasSubstr(R"("agent":"work")"));
  EXPECT_THAT(last_asked(), HasSubstr(R"("as":"telegram:7")"));
}

}  // namespace
}  // namespace clawmark::tui
