// Real stores through the whole of ingest: many sessions, all carriers, each message exactly once.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/support/store_builder.h"
#include "tests/workers/support.h"

namespace clawmark {
namespace {

using support::AgentDbWriter;
using support::Conversation;
using support::Era;
using support::LcmWriter;
using support::make_conversation;
using support::TranscriptWriter;

constexpr std::int64_t kMs = 1'794'900'000'000;

struct RealWorld : World {
  RealWorld() {
    options.sources.state_dir = home.path();
    options.discover = [this] { return discover_sources(options.sources, clock); };
    reopen();
  }
  std::set<std::string> logged_ids() {
    std::set<std::string> out;
    auto query = store->db().prepare(
        "SELECT payload ->> '$.entry_id' FROM events WHERE type = 'message.observed'");
    while (query.ok() && query->step().value_or(false)) out.insert(query->string(0));
    return out;
  }
  support::TempDir home;
};

TEST(IngestReal, two_hundred_sessions_each_message_exactly_once) {
  RealWorld w;
  AgentDbWriter db(w.home.path(), "main");
  TranscriptWriter files(w.home.path(), "main", Era::kFiles3);
  std::vector<Conversation> talks;
  std::size_t expected = 0;
  support::Ids ids(99);
  std::int64_t at = kMs - 100 * kDayMs;
  for (int i = 0; i < 200; ++i) {
    const bool database = i % 2 == 0;
    support::MakeOptions make;
    make.seed = 1000 + static_cast<std::uint64_t>(i);
    make.messages = 4;
    make.era = database ? Era::kDatabase4 : Era::kFiles3;
    make.session_key = "agent:main:s" + std::to_string(i);
    make.session_id = ids.uuid();
    make.start_ms = at += kHourMs;
    make.tools = false;
    make.long_texts = i % 10 == 0;
    talks.push_back(make_conversation(make));
    database ? db.write(talks.back()) : (void)files.write(talks.back());
    expected += message_ids(talks.back()).size();
    if (i % 10 == 9) {  // some are appended to later
      auto& earlier = talks[static_cast<std::size_t>(i - 7)];
      const Era era = (i - 7) % 2 == 0 ? Era::kDatabase4 : Era::kFiles3;
      const auto first = extend(earlier, 5000 + static_cast<std::uint64_t>(i), 2, era);
      era == Era::kDatabase4 ? db.append(earlier, first) : files.append(earlier, first);
      expected += 2;
    }
    if (i % 20 == 11) files.reset(talks[static_cast<std::size_t>(i)].session_id, at);
    if (i % 20 == 16) {
      db.fork(talks[static_cast<std::size_t>(i)].session_id, ids.uuid(),
              "agent:main:fork" + std::to_string(i),
              talks[static_cast<std::size_t>(i)].items.back().id, at);
    }
    if (i == 150) files.migrate(db, at);
    w.drain();
    ASSERT_EQ(w.count("message.observed"), static_cast<std::int64_t>(expected)) << "after " << i;
  }
  std::set<std::string> wanted;
  for (const auto& talk : talks) {
    for (const auto& id : message_ids(talk)) wanted.insert(id);
  }
  EXPECT_EQ(w.logged_ids(), wanted);
  w.reopen();
  const auto head = w.number("SELECT max(seq) FROM events");
  w.drain();
  EXPECT_EQ(w.number("SELECT max(seq) FROM events"), head) << "a second run appends nothing";
}

TEST(IngestReal, all_three_carriers_of_one_talk_count_once) {
  for (const bool with_ids : {true, false}) {
    RealWorld w;
    support::MakeOptions make;
    make.seed = 5;
    make.messages = 60;
    make.era = Era::kFiles3;
    const Conversation talk = make_conversation(make);
    TranscriptWriter files(w.home.path(), "main", Era::kFiles3);
    files.write(talk);
    LcmWriter lcm(w.home.path() + "/lcm.db");
    lcm.write(talk, with_ids);
    w.drain();
    EXPECT_EQ(w.count("message.observed"), static_cast<std::int64_t>(message_ids(talk).size()));
    AgentDbWriter db(w.home.path(), "main");
    files.migrate(db, kMs);
    w.drain();
    EXPECT_EQ(w.count("message.observed"), static_cast<std::int64_t>(message_ids(talk).size()));
  }
}

TEST(IngestReal, rows_deleted_inside_an_lcm_conversation_stay_and_are_counted) {
  RealWorld w;
  LcmWriter lcm(w.home / "lcm.db");
  lcm.write(make_conversation({.seed = 3, .messages = 12, .start_ms = kMs - kDayMs}));
  w.drain();
  const auto before = w.count("message.observed");
  ASSERT_GT(before, 3);
  lcm.db().exec(
      "PRAGMA foreign_keys=OFF; DELETE FROM messages WHERE message_id IN"
      " (SELECT message_id FROM messages ORDER BY message_id DESC LIMIT 2)");
  w.drain();
  EXPECT_EQ(w.count("message.observed"), before);
  EXPECT_EQ(w.count("session.deleted"), 0);
  EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE state = 'active'"), before);
  const std::string gone = "SELECT counters ->> '$.gone_at_source' FROM source_states";
  EXPECT_EQ(w.number(gone + " WHERE carrier = 'lcm'"), 2);
  w.reopen();
  w.drain();
  EXPECT_EQ(w.number(gone + " WHERE carrier = 'lcm'"), 2);
}

}  // namespace
}  // namespace clawmark
