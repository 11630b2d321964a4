// Whole stores through the whole of ingest: real sources, real log, the messages projection. Stores
// of the test's own making always; those that real releases wrote where the shared fixtures are.

#include <algorithm>
#include <map>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "tests/support/store_builder.h"
#include "tests/workers/support.h"
#include "workers/identity.h"

namespace clawmark {
namespace {

using support::AgentDbWriter;
using support::Conversation;
using support::Era;
using support::Item;
using support::LcmWriter;
using support::TranscriptWriter;

constexpr std::int64_t kMs = 1'794'000'000'000;
constexpr std::size_t kAll = 1000;  // more items than any conversation here has

// One message as an independent reading of the store has it.
struct Expected {
  std::string id, role, entry_class, sha256;
  std::int64_t said_ms = 0, bytes = 0;
  std::set<std::string> sessions, active_in, carriers;
};
using Reading = std::vector<Expected>;

std::vector<json::object> json_lines(const std::string& text) {
  std::vector<json::object> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    if (end > at) {
      out.push_back(parse_json(std::string_view(text).substr(at, end - at)).value().get_object());
    }
    at = end + 1;
  }
  return out;
}

std::set<std::string> strings(const json::object& row, std::string_view key) {
  std::set<std::string> out;
  if (const auto* items = find_array(row, key)) {
    for (const auto& item : *items) out.insert(std::string(view(item.get_string())));
  }
  return out;
}

Reading read_expected(const std::string& path) {
  Reading out;
  for (const auto& row : json_lines(support::read_text(path))) {
    Expected one;
    one.id = get_string(row, "id");
    one.role = get_string(row, "role");
    one.entry_class = get_string(row, "class");
    one.sha256 = get_string(row, "sha256");
    one.said_ms = get_int(row, "message_ms");
    one.bytes = get_int(row, "bytes");
    one.sessions = strings(row, "sessions");
    one.active_in = strings(row, "active_in");
    one.carriers = strings(row, "carriers");
    out.push_back(std::move(one));
  }
  return out;
}

// --- Stores of our own making --------------------------------------------------------------------

class Ledger {
 public:
  // The first `count` items stand in `session`; on its active path but for those of `rewound`.
  void stands(const Conversation& talk, std::size_t count, const std::string& session,
              const std::string& carrier, const std::set<std::string>& rewound = {}) {
    for (std::size_t i = 0; i < std::min(count, talk.items.size()); ++i) {
      const Item& item = talk.items[i];
      if (!support::is_message(item)) continue;
      Expected& one = by_id_[item.id];
      const std::string text = support::text_of(item);
      one.id = item.id;
      one.role = item.role;
      one.entry_class = item.role == "toolResult" ? item.role : "chat";
      one.sha256 = to_hex(sha256(text));
      one.said_ms = item.message_ms != 0 ? item.message_ms : item.entry_ms;
      one.bytes = static_cast<std::int64_t>(text.size());
      one.sessions.insert(session);
      one.carriers.insert(carrier);
      if (carrier == "agent-db" && !rewound.contains(item.id)) one.active_in.insert(session);
    }
  }
  // Its rows went into the archive of a deleted session.
  void deleted(const std::string& session) {
    for (auto& [id, one] : by_id_) {
      if (!one.sessions.contains(session)) continue;
      one.active_in.erase(session);
      one.carriers.insert("deleted");
      if (one.sessions.size() == 1) one.carriers = {"deleted"};
    }
  }
  Reading reading() const {
    Reading out;
    for (const auto& [id, one] : by_id_) out.push_back(one);
    return out;
  }

 private:
  std::map<std::string, Expected> by_id_;
};

Conversation talk(std::uint64_t seed, const std::string& key, Era era, std::size_t messages) {
  support::MakeOptions make;
  make.seed = seed;
  make.messages = messages;
  make.era = era;
  make.session_key = key;
  make.session_id = support::Ids(seed * 7919).uuid();
  make.start_ms = kMs + static_cast<std::int64_t>(seed) * kDayMs;
  return support::make_conversation(make);
}

// Transcripts: one that lives, one renamed by a reset, one deleted.
Reading make_files(const std::string& dir) {
  Ledger ledger;
  TranscriptWriter files(dir, "main", Era::kFiles3);
  const auto alive = talk(1, "agent:main:main", Era::kFiles3, 40);
  const auto old = talk(2, "agent:main:telegram:direct:101", Era::kFiles3, 30);
  const auto gone = talk(3, "agent:main:dashboard:x", Era::kFiles3, 10);
  for (const auto* one : {&alive, &old, &gone}) files.write(*one);
  files.reset(old.session_id, kMs + 20 * kDayMs);
  files.remove(gone.session_id, kMs + 21 * kDayMs);
  ledger.stands(alive, kAll, alive.session_id, "file");
  ledger.stands(old, kAll, old.session_id, "reset");
  ledger.stands(gone, kAll, gone.session_id, "deleted");
  return ledger.reading();
}

// Agent database: a rewind, forks of which one is deleted, a session deleted as a whole.
Reading make_database(const std::string& dir) {
  Ledger ledger;
  AgentDbWriter db(dir, "main");
  const auto trunk = talk(11, "agent:main:main", Era::kDatabase4, 60);
  const auto other = talk(12, "agent:main:telegram:group:-5", Era::kDatabase4, 24);
  const auto gone = talk(13, "agent:main:dashboard:x", Era::kDatabase4, 10);
  for (const auto* one : {&trunk, &other, &gone}) db.write(*one);
  support::Ids ids(5);
  const std::string rewound = ids.uuid(), fork = ids.uuid(), lost_fork = ids.uuid();
  db.rewind(trunk.session_id, rewound, trunk.items[19].id, ids.uuid(), kMs + 30 * kDayMs);
  db.fork(other.session_id, fork, "agent:main:fork", other.items[11].id, kMs + 31 * kDayMs);
  db.fork(other.session_id, lost_fork, "agent:main:lost", other.items[5].id, kMs + 32 * kDayMs);
  db.remove(lost_fork, kMs + 33 * kDayMs);
  db.remove(gone.session_id, kMs + 34 * kDayMs);
  db.checkpoint();
  std::set<std::string> off_path;
  for (std::size_t i = 20; i < trunk.items.size(); ++i) off_path.insert(trunk.items[i].id);
  ledger.stands(trunk, kAll, trunk.session_id, "agent-db");
  ledger.stands(trunk, kAll, rewound, "agent-db", off_path);
  ledger.stands(other, kAll, other.session_id, "agent-db");
  ledger.stands(other, 12, fork, "agent-db");
  ledger.stands(other, 6, lost_fork, "agent-db");
  ledger.stands(gone, kAll, gone.session_id, "agent-db");
  ledger.deleted(lost_fork);
  ledger.deleted(gone.session_id);
  return ledger.reading();
}

// Transcripts that the host carried over into its database; what a reset had renamed stays a file.
Reading make_migrated(const std::string& dir) {
  Ledger ledger;
  TranscriptWriter files(dir, "main", Era::kFiles3);
  AgentDbWriter db(dir, "main");
  const auto alive = talk(21, "agent:main:main", Era::kFiles3, 40);
  const auto old = talk(22, "agent:main:telegram:direct:101", Era::kFiles3, 30);
  for (const auto* one : {&alive, &old}) files.write(*one);
  files.reset(old.session_id, kMs + 25 * kDayMs);
  files.migrate(db, kMs + 26 * kDayMs);
  db.checkpoint();
  ledger.stands(alive, kAll, alive.session_id, "agent-db");
  ledger.stands(alive, kAll, alive.session_id, "imported");
  ledger.stands(old, kAll, old.session_id, "reset");
  return ledger.reading();
}

// --- What the log and the view say ---------------------------------------------------------------

// The pipeline over real sources of one state folder, without models and without search.
struct StoreWorld : World {
  StoreWorld() {
    embedder.reset();
    extractor.reset();
    clock.set(TimeMs{kMs + 60 * kDayMs});
    options.search = false;
    options.sources.state_dir = home.path();
    options.discover = [this] { return discover_sources(options.sources, clock); };
    reopen();
  }
  std::set<std::string> list(const std::string& sql) {
    std::set<std::string> out;
    auto query = store->db().prepare(sql);
    EXPECT_TRUE(query.ok());
    while (query.ok() && query->step().value_or(false)) out.insert(query->string(0));
    return out;
  }
  std::int64_t head() { return number("SELECT coalesce(max(seq), 0) FROM events"); }
  // Nothing is news to the same process, nor to the next one.
  void expect_nothing_new() {
    const auto before = head();
    drain();
    EXPECT_EQ(head(), before) << "a second run appends nothing";
    reopen();
    drain();
    EXPECT_EQ(head(), before) << "nor does another process";
  }
  // As after a lost or torn positions table: every stream is read again from its start.
  void forget_positions() {
    close();
    open();
    ASSERT_TRUE(store->db().run("UPDATE source_positions SET position = '', anchor = ''").ok());
  }
  support::TempDir home;
};

// The one message.observed of an expected message; 0 when there is none or more than one.
std::int64_t observed_seq(StoreWorld& w, const Expected& one) {
  const std::string where =
      " FROM events WHERE type = 'message.observed' AND payload ->>"
      " '$.entry_id' = '" +
      one.id + "' AND payload ->> '$.sha256' = '" + one.sha256 +
      "' AND occurred_ms = " + std::to_string(one.said_ms);
  EXPECT_EQ(w.number("SELECT count(*)" + where), 1);
  return w.number("SELECT max(seq)" + where);
}

void expect_message(StoreWorld& w, const Expected& one) {
  const std::int64_t seq = observed_seq(w, one);
  if (seq == 0) return;
  const std::string s = std::to_string(seq);
  EXPECT_EQ(w.text("SELECT payload ->> '$.role' || '|' || (payload ->> '$.class') || '|' ||"
                   " (payload ->> '$.bytes') FROM events WHERE seq = " +
                   s),
            plain_role(one.role) + "|" + one.entry_class + "|" + std::to_string(one.bytes));
  EXPECT_EQ(w.list("SELECT payload ->> '$.session_id' FROM events WHERE seq = " + s +
                   " OR (type = 'message.sighted' AND payload ->> '$.message' = " + s + ")"),
            one.sessions);
  EXPECT_EQ(w.list("SELECT session_id FROM message_sessions WHERE message = " + s), one.sessions);
  if (one.carriers == std::set<std::string>{"deleted"}) {
    EXPECT_EQ(w.number("SELECT recallable FROM messages WHERE seq = " + s), 0);
    EXPECT_EQ(w.text("SELECT state FROM messages WHERE seq = " + s), "deleted");
  }
  if (one.carriers.contains("agent-db")) {
    EXPECT_EQ(w.list("SELECT session_id FROM message_sessions WHERE active = 1 AND message = " + s),
              one.active_in);
  }
}

void expect_store(StoreWorld& w, const Reading& expected) {
  EXPECT_EQ(w.count("message.observed"), static_cast<std::int64_t>(expected.size()));
  for (const auto& one : expected) {
    SCOPED_TRACE(one.id);
    expect_message(w, one);
  }
  std::size_t recallable = 0;
  for (const auto& one : expected) {
    const bool only_deleted = one.carriers == std::set<std::string>{"deleted"};
    const bool off_path = one.carriers.contains("agent-db") && one.active_in.empty();
    recallable += one.entry_class == "chat" && !only_deleted && !off_path;
  }
  EXPECT_GT(w.number("SELECT count(*) FROM messages WHERE recallable = 1"), 0);
  EXPECT_LE(w.number("SELECT count(*) FROM messages WHERE recallable = 1"),
            static_cast<std::int64_t>(recallable));
}

struct StoreCase {
  const char* name;
  Reading (*make)(const std::string& dir);  // null: the shared fixture of this name
};

class WholeStore : public testing::TestWithParam<StoreCase> {};

TEST_P(WholeStore, each_message_is_observed_once_as_an_independent_reading_has_it) {
  StoreWorld w;
  Reading expected;
  if (GetParam().make != nullptr) {
    expected = GetParam().make(w.home.path());
  } else {
    const auto shared = support::shared_path(std::string("fixtures/openclaw/") + GetParam().name);
    if (!shared) GTEST_SKIP() << "no shared fixtures";
    support::copy_tree(*shared, w.home.path());
    expected = read_expected(join_path(*shared, "expected.jsonl"));
  }
  ASSERT_FALSE(expected.empty());
  const auto before = support::tree_digest(w.home.path());
  EXPECT_TRUE(w.drain().done);
  expect_store(w, expected);
  w.expect_nothing_new();
  w.forget_positions();
  w.drain();
  EXPECT_EQ(w.count("message.observed"), static_cast<std::int64_t>(expected.size()))
      << "read again from the start";
  expect_store(w, expected);
  EXPECT_EQ(support::tree_digest(w.home.path()), before) << "the source was changed";
}

INSTANTIATE_TEST_SUITE_P(
    Stores, WholeStore,
    testing::Values(StoreCase{"made-files", make_files}, StoreCase{"made-database", make_database},
                    StoreCase{"made-migrated", make_migrated}, StoreCase{"v2026.3.23", nullptr},
                    StoreCase{"v2026.5.28", nullptr}, StoreCase{"v2026.9.6", nullptr},
                    StoreCase{"v2026.9.6-migrated-from-5.28", nullptr}),
    [](const auto& param) {
      std::string name = param.param.name;
      for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      }
      return name;
    });

// --- LCM -----------------------------------------------------------------------------------------

// What LCM holds, by session, role and text; and as transcripts beside it.
struct LcmStore {
  std::string database;                            // its bytes
  std::map<std::string, std::string> transcripts;  // file name → content
  std::multiset<std::string> messages;             // "session role sha256"
  std::string doubled;                             // a database with one conversation twice
};

std::string line_of(const std::string& session, const std::string& role, const std::string& sha) {
  return session + " " + plain_role(role) + " " + sha;
}

LcmStore shared_lcm(const std::string& dir) {
  LcmStore out;
  out.database = support::read_text(dir + "/small.db");
  out.doubled = support::read_text(dir + "/drift/double-ingested.db");
  for (const auto& file : support::list_files(dir + "/sessions-small")) {
    out.transcripts[file] = support::read_text(dir + "/sessions-small/" + file);
  }
  for (const auto& row : json_lines(support::read_text(dir + "/small.expected.jsonl"))) {
    out.messages.insert(
        line_of(get_string(row, "session_id"), get_string(row, "role"), get_string(row, "sha")));
  }
  return out;
}

LcmStore made_lcm() {
  LcmStore out;
  const support::TempDir dir;
  LcmWriter lcm(dir / "lcm.db");
  for (const std::uint64_t seed : {31, 32, 33}) {
    const auto one = talk(seed, seed == 31 ? "agent:main:main" : "agent:main:telegram:direct:101",
                          Era::kFiles3, 50);
    const auto id = lcm.write(one);
    if (seed == 32) lcm.archive(id, "manual-reset", kMs + 33 * kDayMs);
    out.transcripts[one.session_id + ".jsonl"] = support::transcript_text(one, Era::kFiles3);
    for (const auto& item : one.items) {
      if (!support::is_message(item)) continue;
      out.messages.insert(
          line_of(one.session_id, item.role, to_hex(sha256(support::text_of(item)))));
    }
  }
  lcm.checkpoint();
  out.database = support::read_text(lcm.path());
  lcm.db().exec(
      "INSERT INTO messages(conversation_id, seq, role, content, token_count, identity_hash,"
      " transcript_entry_id, created_at) SELECT conversation_id, seq + 1000, role, content,"
      " token_count, identity_hash, 'x' || transcript_entry_id, created_at FROM messages"
      " WHERE conversation_id = 1 ORDER BY message_id");
  lcm.checkpoint();
  out.doubled = support::read_text(lcm.path());
  return out;
}

class WholeLcm : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) {
      held = made_lcm();
      return;
    }
    const auto shared = support::shared_path("fixtures/lcm");
    if (!shared) GTEST_SKIP() << "no shared fixtures";
    held = shared_lcm(*shared);
  }
  void put_database() { support::write_text(w.home / "lcm.db", held.database); }
  void put_transcripts() {
    for (const auto& [name, text] : held.transcripts) {
      support::write_text(w.home / ("agents/main/sessions/" + name), text);
    }
  }
  // Session, role and text of all that was observed. A text that LCM keeps in another form may be
  // that of either carrier.
  void expect_once(std::size_t other_texts = 0) {
    std::multiset<std::string> seen;
    auto query = w.store->db().prepare(
        "SELECT payload ->> '$.session_id' || ' ' || (payload ->> '$.role') || ' ' ||"
        " (payload ->> '$.sha256') FROM events WHERE type = 'message.observed'");
    while (query.ok() && query->step().value_or(false)) seen.insert(query->string(0));
    EXPECT_EQ(seen.size(), held.messages.size());
    std::vector<std::string> unexpected;
    std::set_difference(seen.begin(), seen.end(), held.messages.begin(), held.messages.end(),
                        std::back_inserter(unexpected));
    EXPECT_LE(unexpected.size(), other_texts) << testing::PrintToString(unexpected);
  }
  StoreWorld w;
  LcmStore held;
};

TEST_P(WholeLcm, alone_gives_each_message_once) {
  put_database();
  w.drain();
  expect_once();
  w.expect_nothing_new();
  EXPECT_EQ(support::read_text(w.home / "lcm.db"), held.database);
}

TEST_P(WholeLcm, beside_its_transcripts_nothing_is_double) {
  put_database();
  put_transcripts();
  w.drain();
  expect_once(4);
  w.expect_nothing_new();
}

TEST_P(WholeLcm, transcripts_that_come_later_are_the_same_messages) {
  put_database();
  w.drain();
  put_transcripts();
  w.drain();
  expect_once();
  w.expect_nothing_new();
}

TEST_P(WholeLcm, read_again_from_the_start_nothing_is_new) {
  put_database();
  w.drain();
  const auto before = w.head();
  w.forget_positions();
  w.drain();
  EXPECT_EQ(w.head(), before);
  expect_once();
}

TEST_P(WholeLcm, C014_a_conversation_that_was_stored_twice_is_read_once) {
  support::write_text(w.home / "lcm.db", held.doubled);
  w.drain();
  expect_once();
  w.expect_nothing_new();
}

INSTANTIATE_TEST_SUITE_P(Stores, WholeLcm, testing::Values(false, true),
                         [](const auto& param) { return param.param ? "shared" : "made"; });

std::int64_t messages_of(const std::string& lcm_database) {
  StoreWorld w;
  support::write_text(w.home / "lcm.db", lcm_database);
  w.drain();
  return w.count("message.observed");
}

TEST(LcmRows, of_one_second_without_text_are_told_apart_by_the_tools_that_they_call) {
  support::Conversation talk = support::make_conversation({.messages = 0});
  for (int i = 0; i < 6; ++i) {
    support::Item item;
    item.id = "entry-" + std::to_string(i);
    item.entry_ms = 1'790'000'000'000 + i;
    item.role = "assistant";
    item.tools = {{"toolu_" + std::to_string(i), "exec"}};
    talk.items.push_back(item);
  }
  const support::TempDir dir;
  support::LcmWriter lcm(dir / "lcm.db");
  lcm.write(talk, false);
  lcm.checkpoint();
  EXPECT_EQ(messages_of(support::read_text(lcm.path())), 6);
}

TEST(LcmRows, each_that_a_real_version_wrote_is_a_message) {
  const auto shared = support::shared_path("fixtures/lcm/versions");
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  for (const auto& file : support::list_files(*shared)) {
    if (!file.ends_with(".db")) continue;
    const auto rows = json_lines(
        support::read_text(*shared + "/" + file.substr(0, file.size() - 3) + ".expected.jsonl"));
    EXPECT_EQ(messages_of(support::read_text(*shared + "/" + file)), std::ssize(rows)) << file;
  }
}

}  // namespace
}  // namespace clawmark
