// Bodies: vault, else source, else gone; the hash proves it.

#include "log/body_store.h"

#include <gtest/gtest.h>

#include <map>

#include "support.h"

namespace clawmark {
namespace {

class FakeSource final : public BodyResolver {
 public:
  std::vector<std::optional<std::string>> resolve(std::span<const BodyRequest> wanted) override {
    ++calls;
    if (during) during();
    std::vector<std::optional<std::string>> out;
    for (const BodyRequest& request : wanted) {
      asked.push_back(request);
      const auto found = texts.find(request.entry_id);
      out.push_back(found == texts.end() ? std::nullopt : std::optional(found->second));
    }
    if (answer_less) out.pop_back();
    return out;
  }
  std::map<std::string, std::string> texts;
  std::vector<BodyRequest> asked;
  std::function<void()> during;
  bool answer_less = false;
  int calls = 0;
};

class BodyStoreTest : public testing::Test {
 protected:
  Seq observe(const std::string& entry, const std::string& text) {
    NewEvent event = make_event("msg:main:" + entry);
    event.type = event_type::kMessageObserved;
    event.payload = {{"entry_id", entry}, {"sha256", to_hex(sha256(text))}};
    source_.texts[entry] = text;
    return append(store_, {event}).head;
  }
  void put(BodyStore& bodies, const std::string& text) {
    auto txn = must(Transaction::begin(store_.db()));
    must(bodies.put(txn, sha256(text), text));
    must(txn.commit());
  }
  std::int64_t vault_rows() {
    return must(store_.db().query_int("SELECT count(*) FROM bodies")).value();
  }

  TempDir dir_;
  ManualClock clock_;
  Store store_ = open_store(dir_.file("clawmark.db"), clock_);
  FakeSource source_;
  BodyStore reference_{Retention::kReference, &source_};
  BodyStore verbatim_{Retention::kVerbatim, &source_};
};

TEST_F(BodyStoreTest, reference_keeps_no_copy_and_asks_the_source) {
  const Seq seq = observe("e1", "hello");
  put(reference_, "hello");
  EXPECT_EQ(vault_rows(), 0);
  const Body body = must(reference_.get_one(store_.db(), seq));
  EXPECT_EQ(body.state, BodyState::kSource);
  EXPECT_EQ(body.text, "hello");
}

TEST_F(BodyStoreTest, verbatim_keeps_one_copy_per_text_and_outlives_the_source) {
  const std::string text(5000, 'x');
  const Seq first = observe("e1", text), second = observe("e2", text);
  put(verbatim_, text);
  put(verbatim_, text);
  EXPECT_EQ(vault_rows(), 1);
  source_.texts.clear();
  for (const Body& body : must(verbatim_.get(store_.db(), std::vector<Seq>{first, second}))) {
    EXPECT_EQ(body.state, BodyState::kVault);
    EXPECT_EQ(body.text, text);
  }
  EXPECT_EQ(source_.calls, 0);
}

TEST_F(BodyStoreTest, bytes_that_are_no_text_come_back_as_they_were) {
  const std::string text("a\0b\xff\xfe", 5);
  const Seq seq = observe("e1", text), empty = observe("e2", "");
  put(verbatim_, text);
  put(verbatim_, "");
  EXPECT_EQ(must(verbatim_.get_one(store_.db(), seq)).text, text);
  EXPECT_EQ(must(verbatim_.get_one(store_.db(), empty)).state, BodyState::kVault);
}

TEST_F(BodyStoreTest, a_text_that_is_not_what_was_seen_is_gone) {
  const Seq seq = observe("e1", "hello");
  source_.texts["e1"] = "hello, edited";
  const Body body = must(reference_.get_one(store_.db(), seq));
  EXPECT_EQ(body.state, BodyState::kGone);
  EXPECT_EQ(body.text, "");
}

TEST_F(BodyStoreTest, a_damaged_vault_falls_back_to_the_source) {
  const Seq seq = observe("e1", "hello");
  put(verbatim_, "hello");
  must(store_.db().exec("UPDATE bodies SET frame = x'00112233'"));
  EXPECT_EQ(must(verbatim_.get_one(store_.db(), seq)).state, BodyState::kSource);
}

TEST_F(BodyStoreTest, the_answer_keeps_the_order_asked_with_all_states_mixed) {
  const Seq in_source = observe("e1", "one"), in_vault = observe("e2", "two"),
            gone = observe("e3", "three");
  put(verbatim_, "two");
  source_.texts.erase("e3");
  const Seq unknown{99};
  const auto bodies = must(
      verbatim_.get(store_.db(), std::vector<Seq>{gone, in_vault, unknown, in_source, in_vault}));
  ASSERT_EQ(bodies.size(), 5u);
  EXPECT_EQ(bodies[0].state, BodyState::kGone);
  EXPECT_EQ(bodies[1].text, "two");
  EXPECT_EQ(bodies[2].state, BodyState::kGone);
  EXPECT_EQ(bodies[3].text, "one");
  EXPECT_EQ(bodies[4].text, "two");
  EXPECT_EQ(source_.calls, 1) << "one batch";
}

TEST_F(BodyStoreTest, a_source_that_answers_less_than_asked_harms_nothing) {
  const Seq first = observe("e1", "one"), second = observe("e2", "two");
  source_.answer_less = true;
  const auto bodies = must(reference_.get(store_.db(), std::vector<Seq>{first, second}));
  EXPECT_EQ(bodies[0].text, "one");
  EXPECT_EQ(bodies[1].state, BodyState::kGone);
}

TEST_F(BodyStoreTest, the_request_names_entry_agent_and_locators) {
  const Seq seq = observe("e1", "hello");
  {
    auto txn = must(Transaction::begin(store_.db()));
    must(BodyStore::put_locator(txn, seq, {"transcripts", "main/s1.jsonl", "10"}));
    must(BodyStore::put_locator(txn, seq, {"transcripts", "main/s1.jsonl", "20"}));
    must(BodyStore::put_locator(txn, seq, {"agent-db", "main", "7"}));
    must(txn.commit());
  }
  (void)must(reference_.get_one(store_.db(), seq));
  ASSERT_EQ(source_.asked.size(), 1u);
  const BodyRequest& request = source_.asked[0];
  EXPECT_EQ(request.message, seq);
  EXPECT_EQ(request.agent, "main");
  EXPECT_EQ(request.entry_id, "e1");
  EXPECT_EQ(request.hash, sha256("hello"));
  ASSERT_EQ(request.locators.size(), 2u);
  EXPECT_EQ(request.locators[0].carrier, "agent-db");
  EXPECT_EQ(request.locators[1].place, "20");
}

TEST_F(BodyStoreTest, no_transaction_is_open_while_the_source_is_asked) {
  const Seq seq = observe("e1", "hello");
  source_.during = [&] {
    EXPECT_FALSE(store_.db().in_transaction());
    // A checkpoint that must reset the WAL fails as long as any statement of ours still reads.
    auto other = must(Database::open(dir_.file("clawmark.db"), OpenMode::kReadWriteCreate));
    must(other.exec("PRAGMA busy_timeout=0"));
    EXPECT_EQ(must(other.query_int("PRAGMA wal_checkpoint(TRUNCATE)")), 0);
  };
  (void)must(reference_.get_one(store_.db(), seq));
  EXPECT_EQ(source_.calls, 1);
}

TEST_F(BodyStoreTest, asking_the_source_within_a_transaction_is_refused) {
  const Seq seq = observe("e1", "hello");
  auto txn = must(Transaction::begin(store_.db()));
  EXPECT_EQ(reference_.get_one(store_.db(), seq).error().reason, "in_transaction");
  EXPECT_EQ(source_.calls, 0);
}

TEST_F(BodyStoreTest, a_redacted_message_has_no_body_and_a_dropped_one_leaves_the_vault) {
  const Seq seq = observe("e1", "hello");
  put(verbatim_, "hello");
  auto txn = must(Transaction::begin(store_.db()));
  must(store_.log().redact(txn, seq, "user"));
  must(verbatim_.drop(txn, sha256("hello")));
  must(txn.commit());
  EXPECT_EQ(must(verbatim_.get_one(store_.db(), seq)).state, BodyState::kGone);
  EXPECT_EQ(vault_rows(), 0);
}

TEST_F(BodyStoreTest, without_a_resolver_only_the_vault_answers) {
  BodyStore alone(Retention::kVerbatim, nullptr);
  const Seq one = observe("e1", "one"), two = observe("e2", "two");
  put(alone, "one");
  const auto bodies = must(alone.get(store_.db(), std::vector<Seq>{one, two}));
  EXPECT_EQ(bodies[0].state, BodyState::kVault);
  EXPECT_EQ(bodies[1].state, BodyState::kGone);
}

}  // namespace
}  // namespace clawmark
