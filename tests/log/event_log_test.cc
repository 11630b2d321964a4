// The log: dense, append-only, chained.

#include "log/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "support.h"

namespace clawmark {
namespace {

using testing::HasSubstr;

class EventLogTest : public testing::Test {
 protected:
  TempDir dir_;
  ManualClock clock_;
  Store store_ = open_store(dir_.file("clawmark.db"), clock_);

  // What someone does who goes past us: the guards are taken away first.
  void tamper(const std::string& sql) {
    must(
        store_.db().exec("DROP TRIGGER events_no_delete; DROP TRIGGER events_no_update;"
                         "DROP TRIGGER events_dense; DROP TRIGGER events_no_replace;" +
                         sql));
  }
  LogCheck verify() { return must(EventLog::verify(store_.db())); }
};

TEST_F(EventLogTest, numbers_are_dense_and_everything_reads_back) {
  NewEvent event = make_event("first", "Grüße, 世界");
  event.version = 3;
  const Appended out = append(store_, {event, make_event("second")});
  EXPECT_EQ(out.fresh, 2u);
  EXPECT_EQ(out.head, Seq{2});
  const Event back = must(EventLog::get(store_.db(), {1})).value();
  EXPECT_EQ(back.seq, Seq{1});
  EXPECT_EQ(back.origin, store_.origin());
  EXPECT_EQ(back.origin_seq, 1);
  EXPECT_EQ(back.type, "fact.stated");
  EXPECT_EQ(back.version, 3);
  EXPECT_EQ(back.scope, event.scope);
  EXPECT_EQ(back.dedupe_key, "first");
  EXPECT_EQ(back.occurred, event.occurred);
  EXPECT_EQ(back.recorded, clock_.now());
  EXPECT_EQ(get_string(back.payload, "value"), "Grüße, 世界");
  EXPECT_FALSE(back.redacted);
  EXPECT_EQ(must(EventLog::find(store_.db(), "second")), Seq{2});
  EXPECT_EQ(must(EventLog::find(store_.db(), "third")), std::nullopt);
}

TEST_F(EventLogTest, a_known_key_is_a_no_op_also_within_one_batch) {
  append(store_, {make_event("a")});
  const Appended out =
      append(store_, {make_event("b"), make_event("a", "other"), make_event("b"), make_event("c")});
  EXPECT_EQ(out.fresh, 2u);
  EXPECT_EQ(out.known, 2u);
  EXPECT_EQ(out.head, Seq{3});
  EXPECT_EQ(get_string(must(EventLog::get(store_.db(), {1}))->payload, "value"), "hello");
  EXPECT_TRUE(verify().dense);
}

TEST_F(EventLogTest, a_bad_event_keeps_the_whole_batch_out) {
  NewEvent no_type = make_event("x"), no_key = make_event(""), no_agent = make_event("y");
  no_type.type.clear();
  no_agent.scope.agent.clear();
  NewEvent big = make_event("z", std::string(kPayloadBytesMax, 'x'));
  for (const NewEvent& bad : {no_type, no_key, no_agent, big}) {
    auto txn = must(Transaction::begin(store_.db()));
    const std::vector<NewEvent> batch = {make_event("good"), bad};
    const auto out = store_.log().append(txn, batch);
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().kind, ErrorKind::kInvalid);
    must(txn.commit());
    EXPECT_EQ(must(EventLog::head(store_.db())), Seq{0});
  }
}

TEST_F(EventLogTest, an_error_never_holds_the_text) {
  NewEvent big = make_event("z", "my private words " + std::string(kPayloadBytesMax, 'x'));
  auto txn = must(Transaction::begin(store_.db()));
  const auto out = store_.log().append(txn, big);
  EXPECT_THAT(out.error().message, testing::Not(HasSubstr("private")));
}

TEST_F(EventLogTest, a_rolled_back_append_leaves_nothing_behind) {
  append_count(store_, 3);
  {
    auto txn = must(Transaction::begin(store_.db()));
    must(store_.log().append(txn, make_event("lost")));
  }
  append(store_, {make_event("kept")});
  EXPECT_EQ(must(EventLog::head(store_.db())), Seq{4});
  EXPECT_TRUE(verify().chain_valid);
  must(EventLog::check_dense(store_.db()));
}

TEST_F(EventLogTest, update_delete_and_replace_are_refused_by_the_tables_own_triggers) {
  append_count(store_, 3);
  const char* attacks[] = {
      "DELETE FROM events WHERE seq = 3",
      "UPDATE events SET payload = '{}' WHERE seq = 1",
      "UPDATE events SET chain = x'00' WHERE seq = 1",
      "UPDATE events SET payload = '{\"redacted\":true}', redacted = 1, agent = 'x' WHERE seq = 1",
      "UPDATE events SET seq = 9 WHERE seq = 3",
      "INSERT OR REPLACE INTO events SELECT seq, origin, origin_seq, type, version, agent,"
      " session_key, lane, sender, dedupe_key, 0, 0, '{}', payload_hash, chain, 0 FROM events"
      " WHERE seq = 3",
      "INSERT OR REPLACE INTO events SELECT 4, origin, 4, type, version, agent, session_key, lane,"
      " sender, dedupe_key, 0, 0, '{}', payload_hash, chain, 0 FROM events WHERE seq = 3",
      "INSERT INTO events SELECT 9, origin, 9, type, version, agent, session_key, lane, sender,"
      " 'gap', 0, 0, '{}', payload_hash, chain, 0 FROM events WHERE seq = 3",
      "INSERT OR IGNORE INTO events SELECT 2, origin, 9, type, version, agent, session_key, lane,"
      " sender, 'other', 0, 0, '{}', payload_hash, chain, 0 FROM events WHERE seq = 3",
  };
  for (const char* attack : attacks) {
    EXPECT_FALSE(store_.db().exec(attack).ok()) << attack;
  }
  EXPECT_EQ(must(EventLog::head(store_.db())), Seq{3});
  const LogCheck check = verify();
  EXPECT_TRUE(check.dense && check.chain_valid);
}

TEST_F(EventLogTest, reads_by_type_in_order_and_by_page) {
  std::vector<NewEvent> events;
  for (int i = 0; i < 30; ++i) {
    NewEvent event = make_event("k" + std::to_string(i));
    event.type = i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c";
    events.push_back(std::move(event));
  }
  append(store_, std::move(events));
  const std::string_view one[] = {"b"}, two[] = {"a", "c"};
  EXPECT_EQ(must(EventLog::read(store_.db(), {0}, 100, one)).size(), 10u);
  std::vector<std::int64_t> seen;
  Seq after{0};
  for (;;) {
    const auto page = must(EventLog::read(store_.db(), after, 7, two));
    if (page.empty()) break;
    for (const Event& event : page) seen.push_back(event.seq.value);
    after = page.back().seq;
  }
  ASSERT_EQ(seen.size(), 20u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  const auto all = must(EventLog::read(store_.db(), {27}, 100));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.front().seq, Seq{28});
}

TEST_F(EventLogTest, C028_a_reader_never_passes_a_number_that_is_still_to_come) {
  // Given writer A in the middle of event 1, writer B cannot take event 2 and commit before it.
  must(store_.db().exec("PRAGMA busy_timeout=0"));
  auto other = must(Database::open(dir_.file("clawmark.db"), OpenMode::kReadWriteCreate));
  must(other.exec("PRAGMA busy_timeout=0"));
  auto reader = must(Store::open_read_only(dir_.file("clawmark.db")));
  {
    auto txn = must(Transaction::begin(store_.db()));
    must(store_.log().append(txn, make_event("100")));
    EXPECT_EQ(Transaction::begin(other).error().reason, "busy");
    EXPECT_TRUE(must(EventLog::read(reader, {0}, 10)).empty());
    must(txn.commit());
  }
  auto txn = must(Transaction::begin(other));
  EventLog second(clock_, "other");
  must(second.append(txn, make_event("101")));
  must(txn.commit());
  const auto seen = must(EventLog::read(reader, {0}, 10));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].dedupe_key, "100");
  EXPECT_EQ(seen[1].dedupe_key, "101");
  EXPECT_TRUE(verify().chain_valid);
}

TEST_F(EventLogTest, verify_finds_an_edited_payload) {
  append_count(store_, 5);
  tamper("UPDATE events SET payload = '{\"value\":\"other\"}' WHERE seq = 3");
  const LogCheck check = verify();
  EXPECT_FALSE(check.chain_valid);
  EXPECT_EQ(check.first_bad, Seq{3});
  EXPECT_EQ(check.events, 5);
}

TEST_F(EventLogTest, verify_finds_an_edited_hash) {
  append_count(store_, 5);
  tamper("UPDATE events SET payload_hash = zeroblob(32), payload = '' WHERE seq = 2");
  EXPECT_EQ(verify().first_bad, Seq{2});
}

TEST_F(EventLogTest, verify_finds_an_edited_type) {
  append_count(store_, 5);
  tamper("UPDATE events SET type = 'fact.forgotten' WHERE seq = 4");
  EXPECT_EQ(verify().first_bad, Seq{4});
}

TEST_F(EventLogTest, verify_finds_a_deleted_row) {
  append_count(store_, 5);
  tamper("DELETE FROM events WHERE seq = 3");
  const LogCheck check = verify();
  EXPECT_FALSE(check.dense);
  EXPECT_EQ(check.first_bad, Seq{4});
  EXPECT_EQ(EventLog::check_dense(store_.db()).error().reason, "not_dense");
}

TEST_F(EventLogTest, verify_finds_a_deleted_and_renumbered_row) {
  append_count(store_, 5);
  tamper(
      "DELETE FROM events WHERE seq = 3; UPDATE events SET seq = seq - 1 WHERE seq > 3;"
      "UPDATE log_counter SET events = 4");
  const LogCheck check = verify();
  EXPECT_TRUE(check.dense);
  EXPECT_FALSE(check.chain_valid);
  EXPECT_EQ(check.first_bad, Seq{3});
}

TEST_F(EventLogTest, verify_finds_two_rows_that_changed_places) {
  append_count(store_, 5);
  tamper(
      "UPDATE events SET seq = 99 WHERE seq = 2; UPDATE events SET seq = 2 WHERE seq = 3;"
      "UPDATE events SET seq = 3 WHERE seq = 99");
  EXPECT_EQ(verify().first_bad, Seq{2});
}

TEST_F(EventLogTest, verify_finds_a_tail_that_was_cut_off) {
  append_count(store_, 5);
  tamper("DELETE FROM events WHERE seq = 5");
  const LogCheck check = verify();
  EXPECT_FALSE(check.dense);
  EXPECT_EQ(check.first_bad, Seq{5});
  EXPECT_EQ(EventLog::check_dense(store_.db()).error().reason, "cut_off");
}

TEST_F(EventLogTest, a_redacted_payload_is_gone_and_the_chain_holds) {
  append_count(store_, 2);
  append(store_, {make_event("secret", "correct horse battery staple")});
  for (int twice = 0; twice < 2; ++twice) {
    auto txn = must(Transaction::begin(store_.db()));
    must(store_.log().redact(txn, {3}, "user"));
    must(txn.commit());
  }
  const Event event = must(EventLog::get(store_.db(), {3})).value();
  EXPECT_TRUE(event.redacted);
  EXPECT_EQ(to_text(event.payload), R"({"redacted":true})");
  const Event note = must(EventLog::get(store_.db(), {4})).value();
  EXPECT_EQ(note.type, event_type::kEventRedacted);
  EXPECT_EQ(get_int(note.payload, "seq"), 3);
  EXPECT_EQ(get_string(note.payload, "reason"), "user");
  EXPECT_EQ(note.scope, event.scope);
  EXPECT_EQ(must(EventLog::head(store_.db())), Seq{4}) << "redacting twice adds nothing";
  EXPECT_TRUE(verify().chain_valid);
  must(store_.db().exec("PRAGMA wal_checkpoint(TRUNCATE)"));
  EXPECT_EQ(read_file(dir_.file("clawmark.db")).value().find("battery"), std::string::npos)
      << "secure_delete overwrites the bytes";
}

TEST_F(EventLogTest, redacting_what_is_not_there_says_so) {
  auto txn = must(Transaction::begin(store_.db()));
  EXPECT_EQ(store_.log().redact(txn, {7}, "user").error().kind, ErrorKind::kNotFound);
}

TEST_F(EventLogTest, verify_finds_a_payload_blanked_without_its_event) {
  append_count(store_, 3);
  must(
      store_.db().exec("UPDATE events SET payload = '{\"redacted\":true}', redacted = 1"
                       " WHERE seq = 2"));
  EXPECT_EQ(verify().first_bad, Seq{2});
}

TEST_F(EventLogTest, ill_formed_text_in_a_payload_stays_readable) {
  NewEvent event;
  event.type = "test.ill_formed";
  event.scope.agent = "main";
  event.dedupe_key = "ill-formed";
  event.payload["note"] = "half \xF0\x9F an emoji";
  auto txn = must(Transaction::begin(store_.db()));
  must(store_.log().append(txn, event));
  must(txn.commit());
  const auto read = must(EventLog::get(store_.db(), must(EventLog::head(store_.db()))));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(get_string(read->payload, "note"), "half \xEF\xBF\xBD an emoji");
}

}  // namespace
}  // namespace clawmark
