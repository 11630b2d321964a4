// The programs over the bundled sample, without a daemon: read once, look, state, forget.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "base/sqlite.h"
#include "tests/cmd/world.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::Outcome;
using support::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kGroup[] = "agent:main:telegram:group:-1007001";
constexpr char kMira[] = "agent:main:telegram:direct:101";
constexpr char kJonas[] = "agent:main:telegram:direct:202";

mode_t mode_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

class MainJob : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = new World;
    world_->extra["JOURNAL_STREAM"] = "8:1";  // each line with its level in front
    before_ = support::tree_digest(world_->state());
    first_ = world_->once();
  }
  static void TearDownTestSuite() {
    delete world_;
    world_ = nullptr;
  }
  static std::string block(const char* session_key, const char* as, const char* question) {
    return world_
        ->clawmark({"--session-key", session_key, "--as", as, "inject", "--dry-run", question})
        .out;
  }

  static World* world_;
  static std::string before_;
  static Outcome first_;
};
World* MainJob::world_ = nullptr;
std::string MainJob::before_;
Outcome MainJob::first_;

TEST_F(MainJob, reads_everything_and_says_what_it_found) {
  EXPECT_EQ(first_.code, 0) << first_.out << first_.err;
  EXPECT_THAT(first_.out,
              AllOf(HasSubstr("agent-db"), HasSubstr("transcripts"), HasSubstr("Stages")));
  EXPECT_THAT(first_.out, Not(HasSubstr("\n0 new events")));
  EXPECT_THAT(first_.err, Not(HasSubstr("<3>")));  // no error
}

TEST_F(MainJob, leaves_the_host_s_files_as_they_were) {
  EXPECT_EQ(support::tree_digest(world_->state()), before_);
}

TEST_F(MainJob, a_second_run_appends_nothing) {
  const Outcome second = world_->once();
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("\n0 new events"));
}

TEST_F(MainJob, the_group_s_prompt_gets_the_newer_decision) {
  const std::string prompt =
      block(kGroup, "telegram:101", "Which payment provider did we settle on, and why?");
  EXPECT_THAT(prompt, AllOf(HasSubstr("Mollie"), HasSubstr("DATA")));
}

TEST_F(MainJob, a_thread_of_a_chat_is_that_chat_and_nothing_has_a_reason) {
  const std::string question = "Which payment provider did we settle on, and why?";
  const auto of = [&](const std::string& key) {
    return world_->clawmark({"--session-key", key, "inject", "--dry-run", question}).out;
  };
  EXPECT_EQ(of(std::string(kMira) + ":thread:9"), of(kMira));
  EXPECT_THAT(of("agent:main:telegram:direct:909:thread:9"), HasSubstr("(nothing: no fact"));
  EXPECT_THAT(of("agent:main:cron:daily"), HasSubstr("memory is closed in this kind of session"));
}

TEST_F(MainJob, what_one_person_said_in_confidence_reaches_nobody_else) {
  const char* question = "When does Jonas have knee surgery, and at which clinic?";
  EXPECT_THAT(block(kJonas, "telegram:202", question), HasSubstr("Marienhof"));
  EXPECT_THAT(block(kGroup, "telegram:101", question), Not(HasSubstr("Marienhof")));
  EXPECT_THAT(block(kMira, "telegram:101", question), Not(HasSubstr("Marienhof")));
}

TEST_F(MainJob, what_was_rewound_is_not_recalled) {
  const std::string prompt = block(kMira, "telegram:101", "When does the shop open for sale?");
  EXPECT_THAT(prompt, AllOf(HasSubstr("18:00"), Not(HasSubstr("at noon"))));
}

TEST_F(MainJob, heartbeats_say_nothing) {
  const Outcome found = world_->clawmark({"search", "HEARTBEAT_OK heartbeat poll"});
  EXPECT_EQ(found.code, 0);
  EXPECT_THAT(found.out, Not(HasSubstr("HEARTBEAT_OK")));
}

TEST_F(MainJob, read_commands_answer_without_a_daemon) {
  const auto status = world_->clawmark_json({"status"});
  EXPECT_EQ(get_string(status, "store"), world_->db());
  const auto events = world_->clawmark_json({"events", "--limit", "3"});
  ASSERT_NE(find_array(events, "events"), nullptr);
  EXPECT_EQ(find_array(events, "events")->size(), 3u);
  EXPECT_EQ(world_->clawmark({"facts"}).code, 0);
  EXPECT_EQ(world_->clawmark({"parked", "list"}).code, 0);
  EXPECT_EQ(world_->clawmark({"review"}).code, 0);
  const Outcome found = world_->clawmark({"search", "poster colour petrol"});
  EXPECT_EQ(found.code, 0);
  EXPECT_THAT(found.out, HasSubstr("petrol"));
}

TEST_F(MainJob, what_is_stated_is_known_and_what_is_forgotten_is_gone) {
  const Outcome set = world_->clawmark({"set", "project.stage", "rehearsals"});
  ASSERT_EQ(set.code, 0) << set.err;
  EXPECT_THAT(world_->clawmark({"facts"}).out, HasSubstr("rehearsals"));
  EXPECT_EQ(world_->clawmark({"forget", "project.stage"}).code, 0);
  EXPECT_THAT(world_->clawmark({"facts"}).out, Not(HasSubstr("rehearsals")));
}

TEST_F(MainJob, C078_keys_are_never_folded_together) {
  ASSERT_EQ(
      world_->clawmark({"set", "project.note_one_two_three_four_five_six_a", "first note"}).code,
      0);
  ASSERT_EQ(
      world_->clawmark({"set", "project.note_one_two_three_four_five_six_b", "second note"}).code,
      0);
  const std::string facts = world_->clawmark({"facts"}).out;
  EXPECT_THAT(facts, AllOf(HasSubstr("first note"), HasSubstr("second note")));
  for (const char* key : {"pref.Straße", "pref.STRASSE", "pref.caf\u00e9", "pref.cafe\u0301"}) {
    const Outcome refused = world_->clawmark({"set", key, "x"});
    EXPECT_EQ(refused.code, 2) << key;
    EXPECT_THAT(refused.out + refused.err, HasSubstr("key")) << key;
  }
}

TEST_F(MainJob, verify_finds_nothing_and_rebuild_changes_nothing) {
  const auto verified = world_->clawmark_json({"verify"});
  EXPECT_TRUE(get_bool(verified, "ok")) << to_text(verified);
  const auto digest = [&] {
    std::string out;
    const json::object answer = world_->clawmark_json({"rebuild"});
    const auto* rows = find_array(answer, "projections");
    if (rows == nullptr) return to_text(answer);
    for (const auto& row : *rows) out += get_string(row.get_object(), "digest") + "\n";
    return out;
  };
  const std::string first = digest();
  EXPECT_EQ(digest(), first);
  EXPECT_TRUE(get_bool(world_->clawmark_json({"verify"}), "ok"));
}

TEST_F(MainJob, reconcile_without_a_daemon_says_when_nothing_is_left) {
  const Outcome done = world_->clawmark({"reconcile"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("nothing left"));
}

TEST_F(MainJob, C173_files_are_for_this_user_only) {
  EXPECT_EQ(mode_of(world_->db()), 0600u);
  EXPECT_EQ(mode_of(*world_ / ".local/share/clawmark"), 0700u);
  for (const auto& file : support::list_files(*world_ / ".local/share/clawmark")) {
    EXPECT_EQ(mode_of(*world_ / (".local/share/clawmark/" + file)) & 077, 0u) << file;
  }
}

TEST_F(MainJob, both_queries_of_the_audit_run_as_written) {
  support::HostDb db(world_->db());
  EXPECT_FALSE(db.rows("SELECT event_type, COUNT(*) FROM memory_events GROUP BY 1;").empty());
  EXPECT_FALSE(db.rows("SELECT key, confidence, source FROM facts WHERE is_deleted=0 "
                       "ORDER BY updated_at DESC LIMIT 20;")
                   .empty());
}

TEST_F(MainJob, doctor_names_each_check) {
  const Outcome outcome = world_->clawmark({"doctor"});
  for (const char* name : {"configuration", "store", "log", "cursors", "disk", "projections",
                           "index", "forgotten", "permissions", "sources", "daemon", "models"}) {
    EXPECT_THAT(outcome.out, HasSubstr(name));
  }
  EXPECT_EQ(outcome.code, 1);  // no daemon runs here, and it says how to start one
  EXPECT_THAT(outcome.out, HasSubstr("systemctl --user start clawmark"));
}

TEST(Doctor, fix_closes_files_and_folds_again_what_was_tampered_with) {
  const World world;
  ASSERT_EQ(world.once().code, 0);
  support::HostDb(world.db())
      .run(
          "UPDATE facts__g1 SET value = 'tampered with' WHERE key = (SELECT min(key) FROM "
          "facts__g1)");
  EXPECT_EQ(world.clawmark({"verify"}).code, 1);
  ASSERT_EQ(::chmod(world.db().c_str(), 0644), 0);
  const Outcome fixed = world.clawmark({"doctor", "--fix"});
  EXPECT_THAT(fixed.err, AllOf(HasSubstr("chmod 600"), HasSubstr("folded again")));
  EXPECT_EQ(mode_of(world.db()), 0600u);
  EXPECT_EQ(world.clawmark({"verify"}).code, 0);
  EXPECT_THAT(world.clawmark({"facts"}).out, Not(HasSubstr("tampered")));
}

TEST(Verify, says_what_was_folded_again_because_its_tables_were_gone) {
  const World world;
  ASSERT_EQ(world.once().code, 0);
  EXPECT_THAT(world.clawmark({"verify"}).out, Not(HasSubstr("were missing")));
  support::HostDb(world.db()).run("DROP TABLE graph_episodes__g1");
  const Outcome verified = world.clawmark({"verify"});
  EXPECT_EQ(verified.code, 0);
  EXPECT_THAT(verified.out, HasSubstr("* the tables of graph were missing"));
}

TEST(CommandLine, an_estimate_asks_no_model_and_costs_nothing_with_built_in_ones) {
  const World world;
  const Outcome guess = world.clawmark({"reconcile", "--estimate"});
  EXPECT_EQ(guess.code, 0) << guess.err;
  EXPECT_THAT(guess.out, AllOf(HasSubstr("messages to embed"), HasSubstr("about 0.00 USD")));
}

TEST(CommandLine, mistakes_have_their_own_exit_codes) {
  const World world(false);
  EXPECT_EQ(world.clawmark({"frobnicate"}).code, 2);
  EXPECT_EQ(world.clawmark({}).code, 2);
  EXPECT_EQ(world.clawmark({"inject", "hello"}).code, 2);
  EXPECT_EQ(world.clawmark({"--help"}).code, 0);
  const Outcome none = world.clawmark({"facts"});
  EXPECT_EQ(none.code, 69);
  EXPECT_THAT(none.err, HasSubstr("clawmarkd"));
  EXPECT_THAT(world.clawmark({"frobnicate"}).err, HasSubstr("no command `frobnicate`"));
  const Outcome wrong = world.clawmark({"search", "--limit", "much", "tea", "--json"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.out, HasSubstr(R"({"error":{"code":"usage")"));

  EXPECT_THAT(world.clawmark({"frobnicate", "--json"}).out, HasSubstr(R"({"error":{"code":)"));

  World there;
  ASSERT_EQ(there.once().code, 0);
  EXPECT_EQ(there.clawmark({"grep", "tea", "--since", "some day"}).code, 2);
  EXPECT_EQ(there.clawmark({"timeline", "--since", "2026-11-20", "--before", "2026-11-10"}).code,
            2);
  EXPECT_EQ(there.clawmark({"forget", "user.nothing_like_it"}).code, 1) << "nothing was forgotten";
  EXPECT_EQ(there.clawmark({"forget"}).code, 2);
  EXPECT_EQ(there.clawmark({"set", "no key", "Ada"}).code, 2);
  EXPECT_EQ(there.clawmark({"restore", "--at", "some day"}).code, 2);
  EXPECT_EQ(there.clawmark({"search", "tea", "--at", "some day"}).code, 2);
}

TEST(CommandLine, nothing_is_written_on_a_configuration_that_is_wrong) {
  World world;
  ASSERT_EQ(world.once().code, 0);
  world.extra["CLAWMARK_RECALL_LIMIT"] = "many";
  const Outcome refused = world.clawmark({"set", "user.pet", "a newt"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("CLAWMARK_RECALL_LIMIT"));
  const Outcome found = world.clawmark({"search", "Mollie"});
  EXPECT_EQ(found.code, 0) << "a look is told of it";
  EXPECT_THAT(found.err, HasSubstr("CLAWMARK_RECALL_LIMIT"));
  world.extra.erase("CLAWMARK_RECALL_LIMIT");
  EXPECT_THAT(world.clawmark({"facts"}).out, Not(HasSubstr("newt")));
}

TEST(CommandLine, texts_that_could_not_be_read_are_named_until_the_index_is_made_again) {
  const World world;
  ASSERT_EQ(world.once().code, 0);
  EXPECT_THAT(world.clawmark({"status"}).out, Not(HasSubstr("texts_unread")));
  const std::string away = world / "away";
  std::filesystem::rename(world.state(), away);
  ASSERT_EQ(world.clawmark({"rebuild", "search"}).code, 0);
  std::filesystem::rename(away, world.state());
  EXPECT_THAT(world.clawmark({"status", "--json"}).out,
              AllOf(HasSubstr("texts_unread"), HasSubstr("clawmark rebuild search")));
  ASSERT_EQ(world.clawmark({"rebuild", "search"}).code, 0);
  EXPECT_THAT(world.clawmark({"status", "--json"}).out, Not(HasSubstr("texts_unread")));
}

TEST(CommandLine, a_mistyped_path_makes_no_store) {
  const World world(false);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"verify"},
                                                  {"rebuild"},
                                                  {"set", "user.name", "Ada"},
                                                  {"forget", "user.name"},
                                                  {"parked", "retry"}}) {
    const Outcome refused = world.clawmark(command);
    EXPECT_EQ(refused.code, 69) << command[0] << refused.out << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("db_path")) << command[0];
  }
  EXPECT_EQ(world.clawmark({"facts"}).code, 69);
}

TEST(CommandLine, a_damaged_store_is_named_with_the_remedy) {
  const World world(false);
  EXPECT_EQ(world.clawmark({"reconcile", "--wait"}).code, 0);
  support::write_text(world.db(), std::string(8192, 'x'));
  for (const char* command : {"facts", "verify"}) {
    const Outcome refused = world.clawmark({command});
    EXPECT_EQ(refused.code, 78) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(world.db()), HasSubstr("backup"),
                                   Not(HasSubstr("PRAGMA")), Not(HasSubstr("SELECT"))));
  }
}

TEST(CommandLine, config_show_names_values_and_where_they_come_from) {
  World world(false);
  world.extra["CLAWMARK_RECALL_LIMIT"] = "80%";
  world.extra["CLAWMARK_LOG_LEVEL"] = "info";
  const Outcome shown = world.clawmark({"config", "show"});
  EXPECT_EQ(shown.code, 2);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("recall_limit"), HasSubstr("environment")));
  EXPECT_THAT(shown.err, AllOf(HasSubstr("CLAWMARK_RECALL_LIMIT"), HasSubstr("80%")));
}

TEST(CommandLine, inject_without_a_conversation_looks_through_somebody_s_eyes) {
  const World world(true);
  EXPECT_EQ(world.clawmark({"reconcile", "--wait"}).code, 0);
  const Outcome shown = world.clawmark({"inject", "--dry-run", "What did we say?"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  const Outcome by = world.clawmark({"--as", "agent", "inject", "--dry-run", "What did we say?"});
  EXPECT_EQ(by.code, 0) << by.err;
}

TEST(CommandLine, C027_many_small_transcripts_are_all_read_before_it_says_so) {
  const World world(false);
  support::TranscriptWriter files(world.state(), "main");
  std::int64_t messages = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    support::MakeOptions options;
    options.seed = i + 1;
    options.messages = 3;
    options.era = support::Era::kFiles3;
    options.session_key = "agent:main:s" + std::to_string(i);
    const auto talk = support::make_conversation(options);
    support::write_text(files.path(talk.session_id),
                        support::transcript_text(talk, support::Era::kFiles3));
    messages += 3;
  }
  const Outcome done = world.clawmark({"reconcile", "--wait"});
  EXPECT_EQ(done.code, 0) << done.out << done.err;
  const json::object status = world.clawmark_json({"status"});
  const auto* counts = find_object(status, "counts");
  ASSERT_NE(counts, nullptr);
  EXPECT_EQ(get_int(*counts, "messages"), messages);
}

TEST(Forgetting, C142_a_purge_leaves_no_byte_in_the_store_s_folder) {
  World world;
  world.extra["CLAWMARK_RETENTION"] = "verbatim";
  ASSERT_EQ(world.once().code, 0);
  ASSERT_EQ(world.clawmark({"set", "user.clinic", "knee surgery at Marienhof"}).code, 0);
  const std::string folder = world / ".local/share/clawmark";
  const auto files_with = [&](const std::string& word) {
    std::string out;
    for (const auto& name : support::list_files(folder)) {
      std::ifstream file(folder + "/" + name, std::ios::binary);
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      if (content.find(word) != std::string::npos) out += name + " ";
    }
    return out;
  };
  const std::string before = support::tree_digest(world.state());
  ASSERT_NE(files_with("Marienhof"), "");
  const Outcome preview = world.clawmark({"forget", "--query", "Marienhof", "--preview"});
  EXPECT_EQ(preview.code, 0) << preview.err;
  EXPECT_THAT(preview.out, AllOf(HasSubstr("Would forget"), HasSubstr("Marienhof")));
  const Outcome done = world.clawmark({"forget", "--query", "Marienhof", "--purge"});
  EXPECT_EQ(done.code, 0) << done.out << done.err;
  EXPECT_THAT(done.out, HasSubstr("none is left in any file of the store"));
  EXPECT_EQ(files_with("Marienhof"), "");
  EXPECT_EQ(files_with("marienhof"), "") << "nor as a word of the index";
  EXPECT_EQ(support::tree_digest(world.state()), before) << "the host's files are its own";
  EXPECT_TRUE(get_bool(world.clawmark_json({"verify"}), "ok"));
  EXPECT_EQ(world.once().code, 0);
  EXPECT_EQ(world.clawmark({"rebuild"}).code, 0);
  EXPECT_EQ(files_with("arienhof"), "");
  EXPECT_THAT(world.clawmark({"search", "Marienhof"}).out, Not(HasSubstr("arienhof")));
}

void write_text(const std::string& path, const std::string& text) {
  ASSERT_TRUE(make_private_dir(dir_name(path)).ok());
  std::ofstream(path, std::ios::binary) << text;
}

std::string said(const std::string& id, const std::string& parent, const std::string& text,
                 const std::string& at) {
  return R"({"type":"message","id":")" + id + R"(","parentId":)" +
         (parent.empty() ? "null" : "\"" + parent + "\"") + R"(,"timestamp":")" + at +
         R"(","message":{"role":"user","content":[{"type":"text","text":")" + text + "\"}]}}";
}

// Both stores of an upgraded host, with nothing that tells whose sessions they hold.
TEST(Upgraded, C001_messages_of_both_stores_are_searchable_and_what_is_amiss_is_said) {
  World world(false);
  const std::string agent = world.state() + "/agents/main";
  write_text(agent + "/sessions/s1.jsonl",
             R"({"type":"session","version":3,"id":"s1","timestamp":"2026-07-01T10:00:00.000Z"})"
             "\n" +
                 said("a1", "", "the ferry leaves at nine", "2026-07-01T10:00:00.000Z") + "\n" +
                 said("a2", "a1", "the ferry costs twelve euros", "2026-07-01T10:01:00.000Z") +
                 "\n" + said("a3", "a2", "the ferry takes dogs", "2026-07-01T10:02:00.000Z") +
                 "\n");
  ASSERT_TRUE(make_private_dir(agent + "/agent").ok());
  auto db = Database::open(agent + "/agent/openclaw-agent.sqlite", OpenMode::kReadWriteCreate);
  ASSERT_TRUE(db.ok());
  ASSERT_TRUE(db->exec("PRAGMA journal_mode=WAL; CREATE TABLE transcript_events(session_id TEXT "
                       "NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL, created_at "
                       "INTEGER NOT NULL, PRIMARY KEY(session_id, seq));")
                  .ok());
  const auto insert = [&](int seq, const std::string& text) {
    const std::string at = "2026-09-01T10:0" + std::to_string(seq) + ":00.000Z";
    const std::string id = "00000000-0000-4000-8000-00000000000" + std::to_string(seq);
    ASSERT_TRUE(db->run("INSERT INTO transcript_events VALUES('s2', ?1, ?2, 1788256800000)",
                        static_cast<std::int64_t>(seq), said(id, "", text, at))
                    .ok());
  };
  insert(1, "the ferry is cancelled in winter");
  insert(2, "the ferry was painted blue");
  EXPECT_EQ(world.once().code, 0);
  insert(3, "the ferry has a new captain");
  EXPECT_EQ(world.once().code, 0);
  const auto found = world.clawmark_json({"search", "ferry", "--limit", "50"});
  const std::string all = to_text(found);
  for (const char* part : {"leaves at nine", "twelve euros", "takes dogs", "cancelled in winter",
                           "painted blue", "new captain"}) {
    EXPECT_THAT(all, HasSubstr(part));
  }
  EXPECT_THAT(world.clawmark({"--as", "owner", "search", "ferry"}).out, Not(HasSubstr("captain")))
      << "whose they are is not known";
  EXPECT_THAT(world.clawmark({"doctor"}).out, HasSubstr("6 messages stand in sessions that no "));
  EXPECT_THAT(world.clawmark({"status"}).out, HasSubstr("6 of nobody known"));
}

TEST(Upgraded, a_state_folder_that_is_not_there_is_named) {
  World world(false);
  const Outcome outcome =
      support::run("clawmarkd", {"--once", "--state-dir", "/nonexistent"}, world.environment());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("/nonexistent"), Not(HasSubstr("<3>"))));
}

}  // namespace
}  // namespace clawmark
