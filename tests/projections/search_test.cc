// Finding messages by their words.

#include <gmock/gmock.h>

#include "world.h"

namespace clawmark::testing_world {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Search, finds_by_stem_and_ranks_the_better_match_first) {
  World w;
  w.say({.text = "We deployed the billing service"});
  w.say({.text = "Lunch was good"});
  w.say({.text = "The deployment of billing needs a deploy key"});
  EXPECT_THAT(w.found("deploying billing"), SizeIs(2));
  EXPECT_THAT(w.found("lunch"), ElementsAre("Lunch was good"));
}

TEST(Search, C123_scores_follow_relevance) {
  World w;
  const std::vector<std::string> words = {"heron", "gate",   "copper",  "violin", "harbor",
                                          "maple", "quartz", "lantern", "orchid"};
  std::string one = "heron", three = "heron gate copper", nine;
  for (const auto& word : words) nine += word + " ";
  for (const auto& filler : {one, three, nine, std::string("gate gate"), std::string("nothing")}) {
    w.say({.text = filler});
  }
  const auto answer = w.search(nine);
  std::vector<std::string> order;
  for (const auto& hit : answer.hits) order.push_back(w.texts[hit.message.value]);
  ASSERT_GE(order.size(), 3u);
  EXPECT_EQ(order[0], nine);
  EXPECT_EQ(order[1], three);
  for (std::size_t i = 1; i < answer.hits.size(); ++i) {
    EXPECT_LT(answer.hits[i].score, answer.hits[i - 1].score);
    EXPECT_GT(answer.hits[i].score, 0);
  }
}

TEST(Search, C130_chinese_japanese_and_korean_words_find_their_documents) {
  World w;
  const std::string zh = "下周二上午召开供应商评审会议";
  const std::string ja = "昨日は近所の図書館で読書会をした";
  const std::string ko = "오늘 회의에서 배포 일정을 정했다";
  for (const auto& text : {zh, ja, ko}) w.say({.text = text});
  const std::pair<const char*, std::string> queries[] = {
      {"评审", zh}, {"评审会议", zh}, {"供应商的会议", zh}, {"商", zh},   {"読書会", ja},
      {"図書", ja}, {"館", ja},       {"배포 일정", ko},    {"일정", ko}, {"회", ko}};
  for (const auto& [query, expected] : queries) {
    const auto answer = w.search(query);
    ASSERT_FALSE(answer.hits.empty()) << query;
    EXPECT_EQ(w.texts[answer.hits[0].message.value], expected) << query;
    EXPECT_GT(answer.hits[0].score, 0) << query;
  }
}

TEST(Search, C134_what_was_just_said_is_found_without_any_vector) {
  World w;
  w.say({.text = "the gate code is blue heron", .at = day(0), .session = "before"});
  EXPECT_THAT(w.found("what is the gate code?"), ElementsAre("the gate code is blue heron"));
}

TEST(Search, C136_hidden_messages_take_no_places) {
  World w;
  std::vector<Seq> strong;
  for (int i = 0; i < 5; ++i) {
    strong.push_back(
        w.say({.text = "lantern lantern lantern " + std::to_string(i), .session = "d"}));
  }
  for (int i = 0; i < 3; ++i)
    w.say({.text = "some words about a lantern, live " + std::to_string(i)});
  EXPECT_THAT(w.found("lantern", 5), SizeIs(5));
  // Nobody has the texts any more: their words stay in the index, but not in any answer.
  for (const Seq seq : strong) w.texts.erase(seq.value);
  w.remove_session("d");
  EXPECT_THAT(w.found("lantern", 5), SizeIs(3));
  EXPECT_EQ(search_counts(w.db()).value().pending, 5);
  ASSERT_TRUE(rebuild(w.db(), *w.search_index, w.clock.now(), {}).ok());
  EXPECT_EQ(search_counts(w.db()).value().pending, 0);
  EXPECT_THAT(w.found("lantern", 5), SizeIs(3));
}

TEST(Search, C171_with_its_text_at_hand_a_deleted_message_leaves_the_index_at_once) {
  World w;
  w.say({.text = "alpha lantern", .session = "d"});
  w.say({.text = "beta lamp"});
  w.fold();
  w.remove_session("d");
  EXPECT_THAT(w.found("lantern"), IsEmpty());
  EXPECT_THAT(w.found("beta"), SizeIs(1));
  EXPECT_EQ(search_counts(w.db()).value().pending, 0);
  EXPECT_EQ(w.one("SELECT rows FROM search_terms__g1 WHERE term = 'lantern'"), "0");
  EXPECT_TRUE(w.search_index->check(w.db(), 1).value().empty());
}

TEST(Search, C017_rewound_messages_are_not_found_until_they_are_back) {
  World w;
  const Seq m2 = w.say({.text = "Use port 8080"});
  const Seq m3 = w.say({.text = "Use port 9090"});
  w.branch("s1", "transcripts", 1, {m2});
  EXPECT_THAT(w.found("port"), ElementsAre("Use port 9090"));
  w.branch("s1", "transcripts", 2, {m3});
  EXPECT_THAT(w.found("port"), ElementsAre("Use port 8080"));
}

TEST(Search, C020_a_deleted_session_is_not_found_but_its_fork_is) {
  World w;
  const Seq both = w.say({.text = "heron in both", .session = "s5"});
  w.say({.text = "heron in one", .session = "s5"});
  w.sight(both, "s6", "agent:main:telegram:direct:101");
  w.fold();
  w.remove_session("s5");
  EXPECT_THAT(w.found("heron"), ElementsAre("heron in both"));
  ASSERT_TRUE(rebuild(w.db(), *w.search_index, w.clock.now(), {}).ok());
  EXPECT_THAT(w.found("heron"), ElementsAre("heron in both"));
}

TEST(Search, C137_user_text_is_never_query_syntax) {
  World w;
  const std::string document =
      "multi-agent TODO: rotate keys don't say hi NEAR a AND GB/s plan t:plan OR C++ 50% NOT DROP "
      "TABLE facts 🎉";
  w.say({.text = document});
  w.say({.text = "nothing of that sort"});
  for (const std::string& query : {std::string("multi-agent"),
                                   std::string("TODO: rotate keys"),
                                   std::string("don't"),
                                   std::string("say \"hi"),
                                   std::string("NEAR("),
                                   std::string("a AND"),
                                   std::string("GB/s"),
                                   std::string("(plan"),
                                   std::string("-plan"),
                                   std::string("t:plan"),
                                   std::string("plan^2"),
                                   std::string("OR OR"),
                                   std::string("C++"),
                                   std::string("50%"),
                                   std::string("AND"),
                                   std::string("plan NOT"),
                                   std::string("'; DROP TABLE facts;--"),
                                   std::string("\0plan", 5),
                                   std::string("\"rotate keys\""),
                                   std::string("🎉"),
                                   "plan " + std::string(10'000, 'x')}) {
    EXPECT_THAT(w.found(query), Contains(document)) << query;
  }
  for (const std::string& query : {std::string("*"), std::string(""), std::string("\"\""),
                                   std::string(10'000, '"'), std::string("🦀")}) {
    EXPECT_THAT(w.found(query), IsEmpty()) << query;
  }
}

TEST(Search, a_quoted_phrase_alone_is_required_and_within_text_preferred) {
  World w;
  w.say({.text = "the heron is blue"});
  w.say({.text = "a blue heron stood there"});
  w.say({.text = "会议评审供应商"});
  w.say({.text = "供应商评审会议"});
  EXPECT_THAT(w.found("\"blue heron\""), ElementsAre("a blue heron stood there"));
  EXPECT_THAT(w.found("where was the \"blue heron\"?"), SizeIs(2));
  EXPECT_EQ(w.found("where was the \"blue heron\"?").front(), "a blue heron stood there");
  EXPECT_THAT(w.found("\"供应商评审\""), ElementsAre("供应商评审会议"));
}

TEST(Search, the_advanced_mode_requires_excludes_and_completes) {
  World w;
  w.say({.text = "postgres backup nightly"});
  w.say({.text = "postgres restore by hand"});
  w.say({.text = "mysql backup weekly"});
  const auto found = [&](const std::string& text) {
    std::vector<std::string> out;
    for (const auto& hit : w.search(text, 50, true).hits) out.push_back(w.texts[hit.message.value]);
    return out;
  };
  EXPECT_THAT(found("+postgres -restore"), ElementsAre("postgres backup nightly"));
  EXPECT_THAT(found("+postgres backup"), SizeIs(2));
  EXPECT_EQ(found("+postgres backup").front(), "postgres backup nightly");
  EXPECT_THAT(found("post*"), SizeIs(2));
  EXPECT_THAT(found("+\"backup weekly\""), ElementsAre("mysql backup weekly"));
  EXPECT_THAT(found("+nosuchword backup"), IsEmpty());
  EXPECT_THAT(found("-backup"), IsEmpty());
  EXPECT_THAT(found("+ - \" * +* -\""), IsEmpty());
}

TEST(Search, walls_hold_in_every_question) {
  World w;
  w.say({.text = "my heron secret"});
  w.say({.text = "his heron secret",
         .key = "agent:main:telegram:direct:102",
         .sender = "telegram:102"});
  w.say({.text = "other agent heron", .agent = "other"});
  EXPECT_THAT(w.found("heron"), ElementsAre("my heron secret"));
  w.audiences = {"person:telegram:102"};
  EXPECT_THAT(w.found("heron"), ElementsAre("his heron secret"));
  w.audiences = {};
  EXPECT_THAT(w.found("heron"), IsEmpty());
}

TEST(Search, stop_words_count_only_when_there_is_nothing_else) {
  World w;
  w.say({.text = "to be or not to be"});
  w.say({.text = "the database is down"});
  EXPECT_THAT(w.found("is the database"), ElementsAre("the database is down"));
  EXPECT_THAT(w.found("to be or not"), Contains("to be or not to be"));
}

TEST(Search, long_replies_do_not_swamp_short_ones) {
  World w;
  std::string lengthy = "heron ";
  for (int i = 0; i < 2000; ++i) lengthy += "filler" + std::to_string(i % 50) + " ";
  w.say({.text = lengthy, .role = "assistant"});
  w.say({.text = "heron seen"});
  EXPECT_EQ(w.found("heron").front(), "heron seen");
  EXPECT_THAT(w.found("filler49"), SizeIs(1));  // also far into a long text
}

TEST(Search, common_words_alone_find_the_rows_that_hold_them_all) {
  World w;
  const Seq old = w.say({.text = "red green thing together"});
  for (int i = 0; i < 4200; ++i) w.say({.text = i % 2 == 0 ? "red thing" : "green thing"});
  w.say({.text = "something else"});
  w.fold(1000);
  const auto answer = w.search("thing red green", 3);
  ASSERT_FALSE(answer.hits.empty());
  EXPECT_EQ(answer.hits.front().message, old);
  EXPECT_FALSE(answer.cut);
}

TEST(Search, a_deadline_cuts_and_says_so) {
  World w;
  for (int i = 0; i < 300; ++i) w.say({.text = "heron " + std::to_string(i)});
  w.fold();
  LexicalQuery query;
  query.text = "heron";
  query.agent = "main";
  query.audiences = w.audiences;
  query.clock = &w.clock;
  query.deadline_ms = 0;
  const auto cut = lexical_search(w.db(), query).value();
  EXPECT_TRUE(cut.cut);
  EXPECT_LT(cut.hits.size(), 300u);
  query.deadline_ms = 50;
  EXPECT_FALSE(lexical_search(w.db(), query).value().cut);
}

TEST(Search, C139_a_broken_index_says_so) {
  World w;
  w.say({.text = "heron"});
  w.fold();
  ASSERT_TRUE(w.db().exec("DROP TABLE search_fts__g1").ok());
  EXPECT_NE(w.search("heron").degraded, "");
  EXPECT_THAT(outdated_projections(w.db(), w.projections()).value(), ElementsAre("search"));
  ASSERT_TRUE(rebuild(w.db(), *w.search_index, w.clock.now(), {}).ok());
  EXPECT_THAT(w.found("heron"), ElementsAre("heron"));
}

TEST(Search, C037_any_damaged_part_of_the_index_is_rebuilt_without_asking_it) {
  for (const std::string& damage :
       {std::string("DELETE FROM search_fts__g1_data"),
        std::string("UPDATE search_fts__g1_data SET block = zeroblob(length(block))"),
        "UPDATE search_fts__g1_data SET block = x'" + std::string(80, 'e') + "'",
        std::string("DELETE FROM search_fts__g1_idx"),
        std::string("DELETE FROM search_fts__g1_config"),
        std::string("DROP TABLE search_fts__g1_config"),
        std::string("DROP TABLE search_fts__g1_data"), std::string("DROP TABLE search_docs__g1")}) {
    World w;
    w.say({.text = "blue heron"});
    w.fold();
    ASSERT_TRUE(w.db().exec(damage).ok()) << damage;
    (void)w.search("heron");
    const auto rebuilt = rebuild(w.db(), *w.search_index, w.clock.now(), {});
    ASSERT_TRUE(rebuilt.ok()) << damage << ": " << describe(rebuilt.error());
    EXPECT_THAT(w.found("heron"), ElementsAre("blue heron")) << damage;
    EXPECT_THAT(w.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'search%__g1%'"), IsEmpty())
        << damage;
    EXPECT_EQ(w.one("PRAGMA integrity_check"), "ok") << damage;
  }
}

TEST(Search, gone_texts_are_counted) {
  World w;
  const Seq m = w.say({.text = "heron"});
  w.texts.erase(m.value);
  w.fold();
  EXPECT_EQ(search_counts(w.db()).value().gone, 1);
  w.texts[m.value] = "heron";
  w.sight(m, "s2", "agent:main:telegram:direct:101");  // another carrier has it
  EXPECT_THAT(w.found("heron"), ElementsAre("heron"));
}

TEST(Search, what_is_indexed_is_the_presentable_text) {
  World w;
  w.search_index = make_search_projection(w.bodies, [](std::string_view raw) {
    const auto at = raw.find("] ");
    return std::string(at == std::string_view::npos ? raw : raw.substr(at + 2));
  });
  w.say({.text = "[envelope] heron"});
  EXPECT_THAT(w.found("envelope"), IsEmpty());
  EXPECT_THAT(w.found("heron"), SizeIs(1));
}

}  // namespace
}  // namespace clawmark::testing_world
