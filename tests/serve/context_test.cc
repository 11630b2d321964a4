// What stands for the older part of a conversation: POST /v1/assemble and /v1/compact.

#include <gmock/gmock.h>

#include "log/graph_events.h"
#include "world.h"

namespace clawmark {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kAda[] = "agent:main:telegram:direct:101";
constexpr char kBob[] = "agent:main:telegram:direct:102";

struct Talk : World {
  Talk() {
    Config with = *config;
    with.extract_url = "http://127.0.0.1:9/v1";
    with.extract_model = "m";
    config = std::make_shared<Config>(with);
    serving->set_config(config);
    for (int n = 0; n < 20; ++n) {
      said.push_back(say({.text = "word " + std::to_string(n), .session_id = "s1"}));
    }
    fold();
  }

  std::int64_t at(int n) {
    return must(store.db().query_int("SELECT occurred_ms FROM events WHERE seq = ?",
                                     said[static_cast<std::size_t>(n)].value))
        .value_or(0);
  }

  // The number of its event.
  std::int64_t summarise(int first, int end, const std::string& prose,
                         const std::string& holder = "person:telegram:101") {
    NewEvent event;
    event.type = event_type::kGraphCompleted;
    event.scope.agent = "main";
    event.dedupe_key = "graph:" + prose;
    event.occurred = clock.now();
    json::array messages;
    for (int n = first; n < end; ++n) messages.push_back(said[static_cast<std::size_t>(n)].value);
    event.payload = {{"messages", std::move(messages)},
                     {"session_id", "s1"},
                     {"holder", holder},
                     {"prose", prose},
                     {"state", "The next step is " + prose}};
    append(std::move(event));
    fold();
    return must(EventLog::head(store.db())).value;
  }

  json::object assemble(json::object body, const std::string& key = kAda,
                        const std::string& sender = "101") {
    body["caller"] = caller(key, sender, "s1");
    return post("/v1/assemble", body);
  }
  json::object world_of(std::int64_t from, std::int64_t before, std::int64_t as_of = 0) {
    return assemble({{"mode", "world"},
                     {"from_ms", from},
                     {"before_ms", before},
                     {"chars", 10'000},
                     {"as_of", as_of}});
  }

  std::vector<Seq> said;
};

TEST(Context, says_how_many_messages_of_this_conversation_are_stored) {
  Talk w;
  w.say({.text = "elsewhere", .session_key = kBob, .session_id = "s2", .sender = "telegram:102"});
  w.fold();
  const auto mine = w.assemble({{"mode", "recursive"}});
  EXPECT_TRUE(get_bool(mine, "open"));
  EXPECT_EQ(get_int(mine, "stored"), 20);
  EXPECT_EQ(text_of(mine, "block"), "");
  const auto other = w.assemble({{"mode", "world"}, {"chars", 9999}}, kAda, "102");
  EXPECT_FALSE(get_bool(other, "open", true));
  EXPECT_EQ(get_int(other, "stored"), 0);
}

// What the host counts among its messages, and history does not.
TEST(Context, says_how_many_messages_the_log_holds_also_those_without_words) {
  Talk w;
  w.say({.text = "", .role = "assistant", .noise = "empty"});
  w.say({.text = "exit code 0", .role = "tool", .entry_class = "toolResult"});
  w.say({.text = "", .role = "other", .entry_class = "internal_system"});
  w.fold();
  const auto mine = w.assemble({{"mode", "recursive"}});
  EXPECT_EQ(get_int(mine, "stored"), 21);
  EXPECT_EQ(get_int(mine, "held"), 22);
}

TEST(Context, summaries_that_begin_in_the_part_stand_for_it_by_time) {
  Talk w;
  const auto first = w.summarise(0, 8, "alpha");
  w.summarise(8, 14, "beta");
  const auto both = w.world_of(w.at(0), w.at(12));
  const std::string block = text_of(both, "block");
  EXPECT_LT(block.find("alpha"), block.find("beta"));
  EXPECT_THAT(block, HasSubstr("sum_" + std::to_string(first) + ", 8 messages"));
  EXPECT_THAT(block, HasSubstr("where things stand"));
  EXPECT_TRUE(block.starts_with("[Memory from Clawmark"));
  EXPECT_EQ(get_int(both, "covered_ms"), w.at(13));
  EXPECT_EQ(get_int(both, "summaries"), 2);
  EXPECT_TRUE(get_bool(both, "summarised"));

  const auto one = w.world_of(w.at(0), w.at(8));
  EXPECT_THAT(text_of(one, "block"), Not(HasSubstr("\"beta")));
  EXPECT_EQ(get_int(one, "covered_ms"), w.at(7));
  // After a reset the conversation begins later: what is before is not of it.
  const auto late = w.world_of(w.at(8), w.at(20 - 1));
  EXPECT_THAT(text_of(late, "block"), Not(HasSubstr("\"alpha")));
}

TEST(Context, the_same_store_gives_the_same_bytes) {
  Talk w;
  w.summarise(0, 8, "alpha");
  const auto once = w.world_of(w.at(0), w.at(12));
  EXPECT_EQ(text_of(once, "block"), text_of(w.world_of(w.at(0), w.at(12)), "block"));
}

TEST(Context, one_that_covers_others_stands_for_them) {
  Talk w;
  const auto a = w.summarise(0, 6, "alpha"), b = w.summarise(6, 12, "beta");
  NewEvent joined;
  joined.type = event_type::kSummaryCompleted;
  joined.scope.agent = "main";
  joined.dedupe_key = "summary:ab";
  joined.occurred = w.clock.now();
  json::array messages;
  for (int n = 0; n < 12; ++n) messages.push_back(w.said[static_cast<std::size_t>(n)].value);
  joined.payload = {{"messages", std::move(messages)},
                    {"sources", json::array{a, b}},
                    {"session_id", "s1"},
                    {"holder", "person:telegram:101"},
                    {"depth", 1},
                    {"text", "gamma of both"}};
  w.append(std::move(joined));
  w.fold();
  const auto answer = w.world_of(w.at(0), w.at(15));
  EXPECT_THAT(text_of(answer, "block"), HasSubstr("gamma of both"));
  EXPECT_THAT(text_of(answer, "block"), Not(HasSubstr("\"alpha")));
  EXPECT_EQ(get_int(answer, "covered_ms"), w.at(11));
}

TEST(Context, what_was_forgotten_makes_earlier_answers_stale_and_leaves_the_block) {
  Talk w;
  w.summarise(0, 8, "alpha");
  const auto before = w.world_of(w.at(0), w.at(12));
  const std::int64_t as_of = get_int(before, "as_of");
  EXPECT_FALSE(get_bool(w.world_of(w.at(0), w.at(12), as_of), "stale", true));
  const auto answer =
      w.tool("clawmark_forget", World::caller(kAda, "101"), {{"message", w.said[2].value}});
  ASSERT_TRUE(get_bool(answer, "ok")) << text_of(answer, "text");
  w.fold();
  const auto after = w.world_of(w.at(0), w.at(12), as_of);
  EXPECT_TRUE(get_bool(after, "stale"));
  EXPECT_THAT(text_of(after, "block"), Not(HasSubstr("alpha")));
  EXPECT_FALSE(get_bool(w.world_of(w.at(0), w.at(12), get_int(after, "as_of")), "stale", true));
}

TEST(Context, a_block_keeps_within_its_characters_and_the_newest_stays) {
  Talk w;
  w.summarise(0, 8, "alpha " + std::string(3000, 'a'));
  w.summarise(8, 14, "beta");
  auto answer = w.assemble({{"mode", "world"}, {"from_ms", 1}, {"chars", 1000}});
  EXPECT_LE(chars(answer.at("block")), 1000u);
  EXPECT_THAT(text_of(answer, "block"), HasSubstr("\"beta"));
  EXPECT_EQ(get_int(answer, "left_out"), 1);
  answer = w.assemble({{"mode", "world"}, {"from_ms", 1}, {"chars", 0}});
  EXPECT_EQ(text_of(answer, "block"), "");
}

TEST(Context, compaction_has_what_waits_summarised_first) {
  Talk w;
  json::object body{{"mode", "world"}, {"from_ms", 1}, {"chars", 1000}, {"wait_ms", 10}};
  body["caller"] = World::caller(kAda, "101", "s1");
  const auto answer = w.post("/v1/compact", body);
  EXPECT_TRUE(get_bool(answer, "open"));
  EXPECT_EQ(w.reconciled, 1);
  EXPECT_TRUE(is_slow_target("/v1/compact"));
  EXPECT_FALSE(is_slow_target("/v1/assemble"));
}

}  // namespace
}  // namespace clawmark
