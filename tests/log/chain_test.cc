// The chain: what it covers, by which rule, and that stores of the older rule still hold.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace clawmark {
namespace {

std::string number(std::int64_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xFF));
  }
  return out;
}

std::string bytes_of(const Hash256& hash) {
  return {reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size()};
}

class Chain : public testing::Test {
 protected:
  Store open(std::span<const Migration> schema = migrations()) {
    StoreOptions options;
    options.path = dir_.file("data/clawmark.db");
    options.schema = schema;
    return must(Store::open(options, clock_));
  }
  static NewEvent event(const std::string& key) {
    NewEvent out = make_event(key);
    out.scope = {"main", "agent:main:telegram:direct:101", Lane::kDirect, "telegram:101"};
    out.occurred = {1'795'000'000'000};
    return out;
  }
  static void append(Store& store, const std::string& key) {
    auto txn = must(Transaction::begin(store.db()));
    must(store.log().append(txn, event(key)));
    must(txn.commit());
  }
  // What an intruder does: the triggers go first.
  static void tamper(Store& store, const std::string& sql) {
    must(store.db().exec("DROP TRIGGER events_no_update; " + sql));
  }

  TempDir dir_;
  ManualClock clock_{TimeMs{1'795'000'000'000}};
};

TEST_F(Chain, is_as_documented) {
  Store store = open();
  append(store, "a");
  append(store, "b");
  auto rows = must(store.db().prepare(
      "SELECT payload, payload_hash, chain, seq, origin_seq, version, occurred_ms, recorded_ms,"
      " origin, type, agent, session_key, lane, sender, dedupe_key FROM events ORDER BY seq"));
  Hash256 previous;
  while (must(rows.step())) {
    EXPECT_EQ(sha256(rows.text(0)), rows.hash(1));
    std::string input = bytes_of(previous) + bytes_of(rows.hash(1));
    for (int column = 3; column < 8; ++column) input += number(rows.integer(column), 8);
    for (int column = 8; column < 15; ++column) {
      const std::string text = rows.string(column);
      input += number(static_cast<std::int64_t>(text.size()), 4) + text;
    }
    EXPECT_EQ(sha256(input), rows.hash(2));
    previous = rows.hash(2);
  }
  EXPECT_TRUE(must(EventLog::verify(store.db())).chain_valid);
}

TEST_F(Chain, an_edit_of_any_column_is_seen) {
  for (const char* edit :
       {"agent = 'other'", "session_key = 'agent:main:telegram:direct:202'", "lane = 'group'",
        "sender = 'telegram:202'", "occurred_ms = occurred_ms + 1", "recorded_ms = recorded_ms - 1",
        "dedupe_key = 'c'", "version = 2", "origin = 'x'", "origin_seq = 9",
        "type = 'test.other'"}) {
    const TempDir fresh;
    StoreOptions options;
    options.path = fresh.file("data/clawmark.db");
    Store store = must(Store::open(options, clock_));
    for (const char* key : {"a", "b", "d"}) append(store, key);
    tamper(store, std::string("UPDATE events SET ") + edit + " WHERE seq = 2");
    const LogCheck check = must(EventLog::verify(store.db()));
    EXPECT_FALSE(check.chain_valid) << edit;
    EXPECT_EQ(check.first_bad, Seq{2}) << edit;
  }
}

// As the programs before schema 3 wrote them.
void insert_by_rule_1(Database& db, std::int64_t seq, Hash256& previous) {
  const std::string payload = R"({"value":"old"})", type = "test.old";
  const Hash256 payload_hash = sha256(payload);
  previous = sha256(bytes_of(previous) + number(seq, 8) + type + bytes_of(payload_hash));
  must(
      db.run("INSERT INTO events(seq, origin, origin_seq, type, version, agent, session_key, lane,"
             " sender, dedupe_key, occurred_ms, recorded_ms, payload, payload_hash, chain)"
             " VALUES (?, 'node', ?, ?, 1, 'main', '', 'direct', '', ?, 1, 1, ?, ?, ?)",
             seq, seq, type, "old:" + std::to_string(seq), payload, payload_hash, previous));
}

TEST_F(Chain, events_of_an_older_store_are_verified_by_the_rule_they_were_written_by) {
  {
    Store store = open(migrations().first(2));
    Hash256 previous;
    for (std::int64_t seq = 1; seq <= 3; ++seq) insert_by_rule_1(store.db(), seq, previous);
  }
  Store store = open();
  EXPECT_TRUE(must(EventLog::verify(store.db())).chain_valid);
  append(store, "new");
  append(store, "newer");
  EXPECT_TRUE(must(EventLog::verify(store.db())).chain_valid);
  EXPECT_EQ(must(store.db().query_int("SELECT from_seq FROM chain_rules WHERE rule = 2")), 4);
  EXPECT_FALSE(store.db().exec("UPDATE chain_rules SET from_seq = 9").ok());

  tamper(store, "UPDATE events SET sender = 'telegram:202' WHERE seq = 4");
  EXPECT_EQ(must(EventLog::verify(store.db())).first_bad, Seq{4});
  must(store.db().exec("UPDATE events SET type = 'test.edited' WHERE seq = 2"));
  EXPECT_EQ(must(EventLog::verify(store.db())).first_bad, Seq{2});
}

TEST_F(Chain, moving_the_border_between_the_rules_is_seen) {
  Store store = open();
  for (const char* key : {"a", "b", "c"}) append(store, key);
  must(
      store.db().exec("DROP TRIGGER chain_rules_no_update;"
                      "UPDATE chain_rules SET from_seq = 3"));
  EXPECT_EQ(must(EventLog::verify(store.db())).first_bad, Seq{1});
}

}  // namespace
}  // namespace clawmark
