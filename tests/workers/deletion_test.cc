// What the user deleted at the host, through the whole pipeline over real stores: found before, not
// after, and not after everything was built again from the log.

#include <gmock/gmock.h>

#include <functional>

#include "projections/overview.h"
#include "projections/rebuild.h"
#include "projections/search.h"
#include "tests/support/store_builder.h"
#include "tests/workers/support.h"

namespace clawmark {
namespace {

using support::AgentDbWriter;
using support::Conversation;
using support::Era;
using support::TranscriptWriter;

constexpr std::int64_t kMs = 1'794'000'000'000;
constexpr char kBadge[] = "remember user.badge_colour = teal";
constexpr char kTea[] = "remember pref.drink = tea";
constexpr char kHat[] = "remember user.hat_colour = crimson";

// A session of the owner in which these words are said, a minute apart, each with an answer.
Conversation session_with(std::uint64_t seed, const std::vector<std::string>& words, Era era) {
  support::Ids ids(seed);
  Conversation talk;
  talk.session_id = ids.uuid();
  talk.session_key = seed == 5 ? "agent:main:main" : "agent:main:dashboard:" + ids.hex(6);
  talk.start_ms = kMs + static_cast<std::int64_t>(seed) * kDayMs;
  std::int64_t at = talk.start_ms;
  for (const auto& text : words) {
    support::Item said, answer;
    said.id = ids.next(era);
    said.text = text;
    said.entry_ms = said.message_ms = at += kMinuteMs;
    answer.id = ids.next(era);
    answer.role = "assistant";
    answer.text = "Noted.";
    answer.entry_ms = answer.message_ms = at += 1000;
    talk.items.push_back(said);
    talk.items.push_back(answer);
  }
  complete(talk);
  return talk;
}

struct DeletionWorld : World {
  DeletionWorld() {
    options.sources.state_dir = home.path();
    options.discover = [this] { return discover_sources(options.sources, clock); };
    clock.set(TimeMs{kMs + 30 * kDayMs});
    reopen();
  }
  std::size_t found(const std::string& words) {
    LexicalQuery query;
    query.agent = "main";
    query.text = words;
    query.audiences = list("SELECT DISTINCT audience FROM messages");
    query.deadline_ms = 60'000;
    auto answer = lexical_search(store->db(), query);
    if (!answer.ok() || !answer->degraded.empty() || answer->cut) {
      ADD_FAILURE() << "search does not answer";
      return 99;
    }
    return answer->hits.size();
  }
  std::vector<std::string> list(const std::string& sql) {
    std::vector<std::string> out;
    auto query = store->db().prepare(sql);
    EXPECT_TRUE(query.ok());
    while (query.ok() && query->step().value_or(false)) out.push_back(query->string(0));
    return out;
  }
  std::string live_facts() {
    return text(
        "SELECT coalesce(group_concat(key || '=' || value), '') FROM (SELECT key, value"
        " FROM facts WHERE is_deleted = 0 ORDER BY key)");
  }
  std::int64_t told_in_views(const std::string& word) {
    const std::string like = " LIKE '%" + word + "%'";
    return number("SELECT (SELECT count(*) FROM facts WHERE value" + like +
                  ") + (SELECT count(*) FROM fact_history WHERE value" + like + " OR quote" + like +
                  ") + (SELECT count(*) FROM memory_events WHERE old_value" + like +
                  " OR new_value" + like + ")");
  }
  void rebuild_all() {
    for (Projection* projection : pipeline->projections()) {
      auto digest = rebuild(store->db(), *projection, clock.now(), {});
      ASSERT_TRUE(digest.ok()) << describe(digest.error());
    }
  }
  void expect_verified() {
    auto report = verify(store->db(), pipeline->projections(), clock.now());
    ASSERT_TRUE(report.ok()) << describe(report.error());
    EXPECT_TRUE(report->ok()) << testing::PrintToString(report->problems);
  }
  support::TempDir home;
};

// Runs `check` as things stand, after a rebuild of every projection, and in the next process.
void in_every_light(DeletionWorld& w, const std::function<void()>& check) {
  {
    SCOPED_TRACE("after one cycle");
    check();
  }
  w.rebuild_all();
  {
    SCOPED_TRACE("after the rebuild");
    check();
  }
  w.reopen();
  w.drain();
  SCOPED_TRACE("in the next process");
  check();
  w.expect_verified();
}

void expect_badge_gone(DeletionWorld& w) {
  EXPECT_EQ(w.found("teal"), 0u);
  EXPECT_EQ(w.found("badge colour"), 0u);
  EXPECT_EQ(w.live_facts(), "pref.drink=tea") << "it has other evidence";
  EXPECT_EQ(w.number("SELECT observations FROM facts WHERE key = 'pref.drink'"), 1);
  EXPECT_EQ(w.told_in_views("teal"), 0);
  EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE recallable = 1 AND state = 'deleted'"),
            0);
  EXPECT_EQ(w.count("session.deleted"), 1);
  EXPECT_EQ(w.number("SELECT count(*) FROM events WHERE type = 'session.deleted' AND"
                     " instr(payload, 'teal')"),
            0);
  EXPECT_EQ(w.text("SELECT event_type FROM memory_events WHERE memory_key = 'user.badge_colour'"
                   " ORDER BY id DESC LIMIT 1"),
            "delete");
}

void expect_badge_found(DeletionWorld& w) {
  EXPECT_EQ(w.found("teal"), 1u);
  EXPECT_EQ(w.live_facts(), "pref.drink=tea,user.badge_colour=teal");
  EXPECT_EQ(w.number("SELECT observations FROM facts WHERE key = 'pref.drink'"), 2);
}

TEST(Deletion, C020_a_session_deleted_from_the_database_leaves_nothing_to_find) {
  DeletionWorld w;
  AgentDbWriter db(w.home.path(), "main");
  const auto s5 = session_with(5, {kBadge, kTea}, Era::kDatabase4);
  const auto s6 = session_with(6, {kTea}, Era::kDatabase4);
  db.write(s5);
  db.write(s6);
  w.drain();
  expect_badge_found(w);
  const auto unpurged = [&] {
    return read_store_fit(w.store->db(), {w.clock.now().value + kDayMs}).value().unblanked;
  };
  EXPECT_EQ(unpurged(), 0);
  db.remove(s5.session_id, kMs + 20 * kDayMs);
  w.drain();
  EXPECT_GT(unpurged(), 0) << "an export has to wait for the purge";
  in_every_light(w, [&] { expect_badge_gone(w); });
}

TEST(Deletion, C020_a_deleted_transcript_leaves_nothing_to_find) {
  DeletionWorld w;
  TranscriptWriter files(w.home.path(), "main", Era::kFiles3);
  const auto s5 = session_with(5, {kBadge, kTea}, Era::kFiles3);
  const auto s6 = session_with(6, {kTea}, Era::kFiles3);
  files.write(s5);
  files.write(s6);
  w.drain();
  expect_badge_found(w);
  files.remove(s5.session_id, kMs + 20 * kDayMs);
  w.drain();
  in_every_light(w, [&] { expect_badge_gone(w); });
}

TEST(Deletion, what_was_deleted_before_it_was_ever_read_is_never_found_nor_extracted) {
  DeletionWorld w;
  AgentDbWriter db(w.home.path(), "main");
  const auto gone = session_with(5, {kBadge, kHat}, Era::kDatabase4);
  const auto kept = session_with(6, {kTea}, Era::kDatabase4);
  db.write(gone);
  db.write(kept);
  db.remove(gone.session_id, kMs + 20 * kDayMs);
  w.drain();
  in_every_light(w, [&] {
    EXPECT_EQ(w.count("message.observed"), 6);
    EXPECT_EQ(w.found("teal crimson"), 0u);
    EXPECT_EQ(w.live_facts(), "pref.drink=tea");
    EXPECT_THAT(w.extractor->texts, testing::Not(testing::Contains(testing::HasSubstr("teal"))));
  });
}

TEST(Deletion, a_fork_that_the_user_kept_keeps_what_it_copied) {
  DeletionWorld w;
  AgentDbWriter db(w.home.path(), "main");
  const auto s5 = session_with(5, {kTea, kBadge}, Era::kDatabase4);
  db.write(s5);
  db.fork(s5.session_id, support::Ids(77).uuid(), "agent:main:dashboard:fork", s5.items[1].id,
          kMs + 19 * kDayMs);
  w.drain();
  EXPECT_EQ(w.live_facts(), "pref.drink=tea,user.badge_colour=teal");
  db.remove(s5.session_id, kMs + 20 * kDayMs);
  w.drain();
  in_every_light(w, [&] {
    EXPECT_EQ(w.found("teal"), 0u);
    EXPECT_EQ(w.found("tea"), 1u);
    EXPECT_EQ(w.live_facts(), "pref.drink=tea");
  });
}

TEST(Deletion, the_host_s_own_retention_deletes_nothing_here) {
  DeletionWorld w;
  AgentDbWriter db(w.home.path(), "main");
  const auto s5 = session_with(5, {kBadge, kTea}, Era::kDatabase4);
  const auto s6 = session_with(6, {kTea}, Era::kDatabase4);
  db.write(s5);
  db.write(s6);
  w.drain();
  db.prune(s5.session_id);
  w.drain();
  EXPECT_EQ(w.count("session.deleted"), 0);
  expect_badge_found(w);
}

}  // namespace
}  // namespace clawmark
