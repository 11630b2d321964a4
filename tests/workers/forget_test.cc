// Forgetting through the whole pipeline: gone at once, gone after a rebuild, not back when a
// carrier shows the old text again, and after a purge gone from every byte that is ours.

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "base/zstd.h"
#include "projections/forgetting.h"
#include "projections/rebuild.h"
#include "projections/search.h"
#include "tests/workers/support.h"
#include "workers/purge.h"

namespace clawmark {
namespace {

constexpr std::int64_t kAt = 1'794'900'000'000;
constexpr char kA1[] = "11111111-1111-4111-8111-000000000001";
constexpr char kA2[] = "11111111-1111-4111-8111-000000000002";
constexpr char kA3[] = "11111111-1111-4111-8111-000000000003";
constexpr char kA4[] = "11111111-1111-4111-8111-000000000004";
constexpr char kB1[] = "22222222-2222-4222-8222-000000000001";
constexpr char kSecret[] = "remember user.boat = quicksilver pinnace Wanderlust";
constexpr char kTea[] = "remember pref.drink = oolong from the harbour shop";
constexpr char kEcho[] = "Noted, the quicksilver pinnace Wanderlust it is.";

struct ForgetWorld : World {
  ForgetWorld() {
    options.retention = Retention::kVerbatim;
    // Rules that read one message at a time, windows of all: one extraction holds both facts.
    held = add("agent-db");
    held->streams.push_back(talk("s1"));
    reopen();
    drain();
  }
  static FakeStream talk(const std::string& session, const std::string& key = "agent:main:main") {
    return stream(
        session,
        {message(kA1, "user", kSecret, kAt), message(kA2, "assistant", kEcho, kAt + 1, kA1),
         message(kA3, "user", kTea, kAt + kMinuteMs, kA2),
         message(kA4, "assistant", "Noted.", kAt + kMinuteMs + 1, kA3)},
        key);
  }
  Seq seq_of(const std::string& entry) {
    return {number("SELECT seq FROM events WHERE dedupe_key = 'msg:main:" + entry + "'")};
  }
  std::size_t found(const std::string& words) {
    LexicalQuery query;
    query.agent = "main";
    query.text = words;
    query.audiences = {"person:owner", "session:agent:main:main"};
    query.deadline_ms = 60'000;
    auto answer = lexical_search(store->db(), query);
    if (!answer.ok() || !answer->degraded.empty()) {
      ADD_FAILURE() << "search does not answer";
      return 99;
    }
    return answer->hits.size();
  }
  std::string live_facts() {
    return text(
        "SELECT coalesce(group_concat(key || '=' || value), '') FROM (SELECT key, value"
        " FROM facts WHERE is_deleted = 0 ORDER BY key)");
  }
  void forget_messages(const std::vector<Seq>& seqs, bool keep_facts = false) {
    auto rows = read_messages(store->db(), seqs);
    ASSERT_TRUE(rows.ok());
    auto events = message_tombstones(store->db(), *rows, keep_facts, "asked", clock.now());
    ASSERT_TRUE(events.ok());
    const auto done = pipeline->append_now(*events);
    ASSERT_TRUE(done.ok()) << describe(done.error());
  }
  void forget_fact(const std::string& key) {
    NewEvent event;
    event.type = event_type::kFactForgotten;
    event.scope = {"main", "agent:main:main", Lane::kDirect, "owner"};
    event.dedupe_key = "forgot:" + key;
    event.occurred = clock.now();
    event.payload = {{"key", key}, {"holder", "person:owner"}, {"subject", ""}};
    const auto done = pipeline->append_now(std::span(&event, 1));
    ASSERT_TRUE(done.ok()) << describe(done.error());
  }
  PurgeReport purge_all() {
    auto report = purge(*store, pipeline->projections(), clock.now());
    if (!report.ok()) {
      ADD_FAILURE() << describe(report.error());
      return {};
    }
    return *report;
  }
  // Files of the store's folder that hold these bytes.
  std::vector<std::string> files_with(const std::string& needle) {
    std::vector<std::string> out;
    const std::string folder = dir_name(dir / "clawmark.db");
    for (const auto& name : list_dir(folder)) {
      std::ifstream file(join_path(folder, name), std::ios::binary);
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      if (content.find(needle) != std::string::npos) out.push_back(name);
    }
    return out;
  }
  void expect_verified() {
    auto report = verify(store->db(), pipeline->projections(), clock.now());
    ASSERT_TRUE(report.ok()) << describe(report.error());
    EXPECT_TRUE(report->ok()) << testing::PrintToString(report->problems);
  }
  void rebuild_all() {
    for (Projection* projection : pipeline->projections()) {
      auto digest = rebuild(store->db(), *projection, clock.now(), {});
      ASSERT_TRUE(digest.ok()) << describe(digest.error());
    }
  }
  void expect_boat_gone() {
    EXPECT_EQ(found("quicksilver"), 0u);
    EXPECT_EQ(found("pinnace Wanderlust"), 0u);
    EXPECT_EQ(live_facts(), "pref.drink=oolong from the harbour shop");
    EXPECT_EQ(found("oolong"), 1u);
    EXPECT_EQ(number("SELECT (SELECT count(*) FROM fact_history WHERE value LIKE '%pinnace%') + "
                     "(SELECT count(*) FROM memory_events WHERE old_value LIKE '%pinnace%' OR "
                     "new_value LIKE '%pinnace%') + (SELECT count(*) FROM fact_observations WHERE "
                     "value LIKE '%pinnace%' OR quote LIKE '%pinnace%')"),
              0);
  }
  void expect_no_bytes() {
    for (const std::string word : {"quicksilver", "pinnace", "Wanderlust", "wanderlust"}) {
      EXPECT_THAT(files_with(word), testing::IsEmpty()) << word;
    }
    for (const std::string text : {kSecret, kEcho}) {
      const std::string frame = zstd_compress(text);
      EXPECT_THAT(files_with(frame.substr(12)), testing::IsEmpty()) << "the vault's frame";
    }
  }
  std::shared_ptr<FakeCarrier> held;
};

TEST(Forget, a_message_is_gone_at_once_with_its_answer_and_what_was_concluded) {
  ForgetWorld w;
  ASSERT_EQ(w.found("quicksilver"), 2u);
  ASSERT_THAT(w.live_facts(), testing::HasSubstr("user.boat=quicksilver"));
  w.forget_messages({w.seq_of(kA1), w.seq_of(kA2)});
  w.expect_boat_gone();
  w.expect_verified();
  w.rebuild_all();
  w.expect_boat_gone();
  w.reopen();
  w.drain();
  w.expect_boat_gone();
  w.expect_verified();
}

TEST(Forget, C142_a_purge_takes_the_bytes_out_of_every_file_and_the_chain_holds) {
  ForgetWorld w;
  w.clock.advance(1000);
  ASSERT_THAT(w.files_with("quicksilver"), testing::Not(testing::IsEmpty()));
  ASSERT_EQ(w.number("SELECT count(*) FROM bodies"), 4);
  const auto vectors = w.number("SELECT count(*) FROM vectors");
  ASSERT_TRUE(write_file_atomic(w.dir / "clawmark.db.v1.bak", "an old store: quicksilver").ok());
  w.forget_messages({w.seq_of(kA1), w.seq_of(kA2)});
  const PurgeReport report = w.purge_all();
  EXPECT_GT(report.events, 0);
  EXPECT_EQ(report.texts.bodies, 2);
  EXPECT_EQ(report.texts.vectors, 2);
  EXPECT_EQ(report.backups.size(), 1u);
  EXPECT_GT(report.looked_for, 0u);
  EXPECT_THAT(report.still_in, testing::IsEmpty());
  w.expect_boat_gone();
  w.expect_no_bytes();
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors"), vectors - 2);
  auto log = EventLog::verify(w.store->db());
  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->dense && log->chain_valid);
  w.expect_verified();
  w.rebuild_all();
  w.expect_boat_gone();
  EXPECT_EQ(w.purge_all().events, 0) << "what is blank needs no blanking";
  w.expect_no_bytes();
}

TEST(Forget, a_forgotten_fact_leaves_the_log_and_other_facts_of_the_extraction_stay) {
  ForgetWorld w;
  w.clock.advance(1000);
  w.forget_fact("user.boat");
  w.forget_messages({w.seq_of(kA1), w.seq_of(kA2)}, true);
  w.expect_boat_gone();
  w.purge_all();
  w.expect_boat_gone();
  w.expect_no_bytes();
  w.expect_verified();
  w.rebuild_all();
  w.expect_boat_gone();
}

TEST(Forget, the_source_of_a_forgotten_fact_keeps_its_other_facts) {
  ForgetWorld w;
  w.clock.advance(1000);
  w.forget_messages({w.seq_of(kA3)}, true);
  EXPECT_EQ(w.found("oolong"), 0u);
  EXPECT_THAT(w.live_facts(), testing::HasSubstr("pref.drink=oolong"));
  w.purge_all();
  EXPECT_THAT(w.live_facts(), testing::HasSubstr("pref.drink=oolong"));
  EXPECT_EQ(w.number("SELECT count(*) FROM bodies"), 3);
  w.expect_verified();
}

TEST(Forget, the_old_text_does_not_come_back_by_any_carrier_session_or_name) {
  ForgetWorld w;
  w.clock.advance(1000);
  w.forget_messages({w.seq_of(kA1), w.seq_of(kA2)});
  w.purge_all();
  // The same entries in a transcript, a fork under another session, and the same words under new
  // names in the same session (a host that rewrote its history).
  auto files = w.add("transcripts", "/files");
  files->streams.push_back(ForgetWorld::talk("s1"));
  files->streams.push_back(ForgetWorld::talk("s9"));
  auto rewritten = w.add("transcripts", "/rewritten");
  rewritten->streams.push_back(stream("s1", {message(kB1, "user", kSecret, kAt)}));
  w.reopen();
  w.drain();
  w.expect_boat_gone();
  w.purge_all();
  w.expect_no_bytes();
  w.rebuild_all();
  w.expect_boat_gone();
  w.expect_verified();
}

TEST(Forget, what_is_read_only_later_of_a_forgotten_session_or_person_is_gone_as_well) {
  ForgetWorld w;
  w.clock.advance(1000);
  const Scope scope{"main", "agent:main:main", Lane::kDirect, "owner"};
  const NewEvent session = session_tombstone(scope, "late", w.clock.now());
  ASSERT_TRUE(w.pipeline->append_now(std::span(&session, 1)).ok());
  auto late =
      stream("late", {message(kB1, "user", "remember user.boat = quicksilver barge", kAt + 5)},
             "agent:main:main");
  late.entries.push_back(message("22222222-2222-4222-8222-000000000002", "user",
                                 "we sail on sunday with the new cutter",
                                 w.clock.now().value + kMinuteMs));
  w.held->streams.push_back(late);
  w.clock.advance(2 * kMinuteMs);
  w.reopen();
  w.drain();
  EXPECT_EQ(w.found("barge"), 0u);
  EXPECT_THAT(w.live_facts(), testing::Not(testing::HasSubstr("barge")));
  EXPECT_EQ(w.found("cutter"), 1u) << "said after the forgetting";
  w.clock.advance(2 * kHourMs);
  w.drain();
  EXPECT_THAT(w.files_with("quicksilver barge"), testing::IsEmpty()) << "not even in the vault";
  w.expect_verified();
}

TEST(Forget, a_tombstone_that_comes_before_its_message_holds) {
  ForgetWorld w;
  NewEvent tomb;
  tomb.type = event_type::kMessageForgotten;
  tomb.scope = {"main", "agent:main:main", Lane::kDirect, "owner"};
  tomb.dedupe_key = "forgotten:msg:main:" + std::string(kB1);
  tomb.occurred = w.clock.now();
  tomb.payload = {{"key", "msg:main:" + std::string(kB1)}, {"session_id", "s2"}, {"role", "user"}};
  ASSERT_TRUE(w.pipeline->append_now(std::span(&tomb, 1)).ok());
  w.held->streams.push_back(
      stream("s2", {message(kB1, "user", "remember user.hat = vermilion fedora", kAt + 9)}));
  w.reopen();
  w.drain();
  EXPECT_EQ(w.found("vermilion"), 0u);
  EXPECT_THAT(w.live_facts(), testing::Not(testing::HasSubstr("vermilion")));
  w.expect_verified();
}

TEST(Forget, a_deletion_at_the_source_is_followed_into_the_log_by_itself) {
  ForgetWorld w;
  w.held->streams[0].info.deleted = true;
  w.held->streams[0].info.deleted_evidence = "tombstone";
  w.held->streams[0].entries.push_back(message(kB1, "user", "bye", kAt + 2 * kMinuteMs, kA4));
  w.drain();
  ASSERT_EQ(w.count("session.deleted"), 1);
  EXPECT_EQ(w.found("quicksilver"), 0u);
  ASSERT_GT(w.number("SELECT count(*) FROM bodies"), 0);
  w.drain();
  EXPECT_GT(w.number("SELECT count(*) FROM bodies"), 0) << "other carriers are heard first";
  w.clock.advance(2 * kHourMs);
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM bodies"), 0);
  EXPECT_EQ(w.number("SELECT count(*) FROM events WHERE instr(payload, 'quicksilver')"), 0);
  w.expect_verified();
}

TEST(Forget, an_answer_that_comes_late_to_a_forgotten_message_is_gone_with_it) {
  ForgetWorld w;
  auto& entries = w.held->streams[0].entries;
  w.forget_messages({w.seq_of(kA3), w.seq_of(kA4)});
  entries.push_back(
      message(kB1, "assistant", "That oolong is in the green tin.", kAt + 3 * kMinuteMs, kA3));
  w.drain();
  EXPECT_EQ(w.found("oolong"), 0u);
  const std::string audience =
      "SELECT audience FROM messages WHERE seq = " + std::to_string(w.seq_of(kB1).value);
  EXPECT_EQ(w.text(audience), "person:owner");
  w.purge_all();
  EXPECT_EQ(w.found("oolong"), 0u);
  EXPECT_EQ(w.text(audience), "person:owner") << "the walls stand where the message was";
}

}  // namespace
}  // namespace clawmark
