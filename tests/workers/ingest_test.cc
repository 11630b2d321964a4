// What the carriers hold, in the log exactly once: identity, sightings, branches, states, scopes.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/limits.h"
#include "models/ask.h"
#include "models/chat.h"
#include "tests/support/store_builder.h"
#include "tests/workers/support.h"
#include "workers/ingest_writer.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'794'900'000'000;

Entry lcm_row(std::string id, std::string role, std::string text, std::int64_t ms) {
  Entry entry = message(std::move(id), std::move(role), std::move(text), ms / 1000 * 1000);
  entry.time_step_ms = 1000;
  return entry;
}

TEST(Ingest, each_message_is_one_event_with_its_scope) {
  World w;
  auto files = w.add("transcripts");
  Entry said = message(uuid(1), "user", "I use helix", kMs);
  said.sender_id = "101";
  said.sender_name = "Ada";
  files->streams = {stream("s1", {said, message(uuid(2), "assistant", "Noted", kMs + 1, uuid(1))},
                           "agent:main:telegram:direct:101")};
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.count("message.observed"), 2);
  EXPECT_EQ(w.text("SELECT sender || '|' || lane FROM events WHERE seq = 1"),
            "telegram:101|direct");
  EXPECT_EQ(w.number("SELECT payload ->> '$.parent' FROM events WHERE seq = 2"), 1);
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 2);
}

TEST(Ingest, a_fork_is_one_message_in_two_sessions) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", {message(uuid(1), "user", "hello", kMs)}),
                 stream("s2", {message(uuid(1), "user", "hello", kMs)}, "agent:main:fork")};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 1);
  EXPECT_EQ(w.count("message.sighted"), 1);
  EXPECT_EQ(w.number("SELECT count(*) FROM message_sessions"), 2);
}

TEST(Ingest, C011_a_rewritten_transcript_gives_only_what_is_new) {
  World w;
  auto files = w.add("transcripts");
  std::vector<Entry> ten;
  for (int i = 1; i <= 10; ++i) {
    ten.push_back(message("a" + std::to_string(i), i % 2 ? "user" : "assistant",
                          "line " + std::to_string(i), kMs + i * 1000));
  }
  files->streams = {stream("s1", ten)};
  w.drain();
  const auto before = w.count("extraction.completed");
  std::vector<Entry> after;
  for (int i = 7; i <= 10; ++i) {
    Entry again = ten[static_cast<std::size_t>(i - 1)];
    again.entry_id = "b" + std::to_string(i);
    after.push_back(again);
  }
  files->streams = {stream("s1", after)};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 10);
  EXPECT_EQ(w.count("source.epoch"), 1);
  after.push_back(message("b11", "user", "line 11", kMs + 11'000));
  files->streams = {stream("s1", after)};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 11);
  EXPECT_EQ(w.count("extraction.completed"), before) << "nothing is extracted again";
  EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE recallable = 1"), 11);
}

TEST(Ingest, C014_the_same_words_under_a_new_id_are_an_alias) {
  World w;
  auto files = w.add("transcripts");
  Entry summary;
  summary.kind = EntryKind::kCompaction;
  summary.entry_id = "c1";
  summary.time = {kMs};
  files->streams = {stream("s1", {message("a1", "user", "Ship build 41 to staging", kMs), summary,
                                  message("b7", "user", "Ship build 41 to staging", kMs)})};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 1);
  EXPECT_EQ(w.text("SELECT payload ->> '$.entry_id' FROM events WHERE type = 'message.sighted'"),
            "b7");
  EXPECT_EQ(w.number("SELECT payload ->> '$.alias' FROM events WHERE type = 'message.sighted'"), 1);
  EXPECT_EQ(w.count("session.marked"), 1);
}

// Telegram counts in whole seconds, and tools called together answer together.
TEST(Ingest, equal_words_of_one_moment_stay_as_many_as_the_host_tells_apart) {
  World w;
  auto files = w.add("transcripts");
  const auto one = [](std::string id, std::string role, std::string key) {
    Entry entry = message(std::move(id), std::move(role), "yes", kMs);
    entry.distinct_by = std::move(key);
    return entry;
  };
  files->streams = {stream("s1", {one("a1", "user", "channel:1"), one("a2", "user", "channel:2"),
                                  one("a3", "user", "channel:2"), one("a4", "toolResult", "call_1"),
                                  one("a5", "toolResult", "call_2"), one("a6", "toolResult", "")})};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 4);
  EXPECT_EQ(w.text("SELECT group_concat(payload ->> '$.entry_id', ' ') FROM events WHERE type = "
                   "'message.sighted'"),
            "a3 a6")
      << "written again, and what an older version wrote without a key";
}

TEST(Ingest, equal_words_at_different_times_stay_two) {
  World w;
  auto files = w.add("transcripts");
  files->streams = {
      stream("s1", {message("a1", "user", "ok", kMs), message("a2", "user", "ok", kMs + 60'000)})};
  auto lcm = w.add("lcm");
  lcm->streams = {
      stream("s1", {lcm_row("", "user", "ok", kMs), lcm_row("", "user", "ok", kMs + 60'000)})};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 2);
}

TEST(Ingest, one_short_id_in_two_sessions_is_two_messages) {
  World w;
  auto files = w.add("transcripts");
  files->streams = {stream("s1", {message("0a0a0a0a", "user", "one", kMs)}),
                    stream("s2", {message("0a0a0a0a", "user", "two", kMs)}, "agent:main:other")};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 2);
}

// All orders of three carriers that hold parts of the same talk, by ids, by seconds, by insertion
// time.
TEST(Ingest, the_order_of_carriers_does_not_matter) {
  std::vector<int> order = {0, 1, 2};
  do {
    World w;
    w.options.order_as_found = true;
    w.reopen();
    std::vector<Entry> live, file, rows;
    for (int i = 1; i <= 12; ++i) {
      const std::string text = i % 4 == 0 ? "ok" : "message " + std::to_string(i);
      const std::int64_t ms = kMs + i * 7'321;
      const Entry one = message(uuid(i), i % 2 ? "user" : "assistant", text, ms);
      if (i >= 5) live.push_back(one);
      if (i <= 9) file.push_back(one);
      // LCM: with ids, without but with the time of saying, without and with the time of storing.
      if (i <= 4) rows.push_back(lcm_row(uuid(i), one.role, text, ms));
      if (i > 4 && i <= 8) rows.push_back(lcm_row("", one.role, text, ms));
      if (i > 8) rows.push_back(lcm_row("", one.role, text, kMs + 3'600'000));
    }
    for (const int which : order) {
      auto held = w.add(which == 0   ? "agent-db"
                        : which == 1 ? "transcripts"
                                     : "lcm",
                        "/fake" + std::to_string(which));
      held->streams = {stream("s1", which == 0 ? live : which == 1 ? file : rows)};
      w.drain();  // each is read to the end before the next is there
    }
    EXPECT_EQ(w.count("message.observed"), 12) << order[0] << order[1] << order[2];
    w.drain();
    EXPECT_EQ(w.count("message.observed"), 12);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Ingest, C013_lcm_gives_what_a_rotated_file_no_longer_holds) {
  World w;
  auto files = w.add("transcripts");
  auto lcm = w.add("lcm", "/lcm.db");
  std::vector<Entry> rows, tail;
  for (int i = 1; i <= 20; ++i) {
    const std::string text = "turn " + std::to_string(i);
    rows.push_back(lcm_row("", i % 2 ? "user" : "assistant", text, kMs + i * 5000));
    if (i > 17)
      tail.push_back(
          message("t" + std::to_string(i), i % 2 ? "user" : "assistant", text, kMs + i * 5000));
  }
  files->streams = {stream("s1", tail)};
  lcm->streams = {stream("s1", rows)};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 20);
}

TEST(Ingest, C013_a_shorter_file_deletes_nothing) {
  World w;
  auto files = w.add("transcripts");
  std::vector<Entry> all;
  for (int i = 1; i <= 20; ++i) {
    all.push_back(message(uuid(i), "user", "turn " + std::to_string(i), kMs + i));
  }
  files->streams = {stream("s1", all)};
  w.drain();
  files->streams = {stream("s1", {all.end() - 3, all.end()})};
  w.drain();
  files->streams.clear();
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE recallable = 1"), 20);
  EXPECT_EQ(w.count("session.deleted"), 0);
}

TEST(Ingest, C016_rows_stored_again_are_counted_and_change_no_time) {
  World w;
  auto lcm = w.add("lcm", "/lcm.db");
  std::vector<Entry> rows;
  for (int i = 1; i <= 5; ++i) {
    rows.push_back(lcm_row("3f0d000" + std::to_string(i), "user", "march " + std::to_string(i),
                           kMs - 200 * kDayMs + i * 1000));
  }
  for (int i = 1; i <= 5; ++i) {
    rows.push_back(
        lcm_row("3f0d000" + std::to_string(i), "user", "march " + std::to_string(i), kMs));
  }
  lcm->streams = {stream("s1", rows)};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 5);
  EXPECT_LT(w.number("SELECT max(occurred_ms) FROM events WHERE type = 'message.observed'"),
            kMs - 199 * kDayMs);
  EXPECT_EQ(w.number("SELECT counters ->> '$.duplicate_rows_ignored' FROM source_states"), 5);
}

TEST(Ingest, C017_a_rewound_branch_is_labelled_and_can_come_back) {
  World w;
  auto files = w.add("transcripts");
  auto s1 = stream("s1", {message("m1", "user", "Let's choose a port", kMs),
                          message("m2", "user", "Use port 8080", kMs + 1, "m1"),
                          message("m3", "user", "Use port 9090", kMs + 2, "m1")});
  s1.inactive = std::vector<std::string>{"m2"};
  files->streams = {s1};
  w.drain();
  const std::string state = "SELECT state FROM messages WHERE entry_id = ";
  EXPECT_EQ(w.text(state + "'m2'"), "rewound");
  EXPECT_EQ(w.text(state + "'m3'"), "active");
  files->streams[0].inactive = std::vector<std::string>{"m3"};
  w.drain();
  EXPECT_EQ(w.text(state + "'m2'"), "active");
  EXPECT_EQ(w.text(state + "'m3'"), "rewound");
  w.drain();
  EXPECT_EQ(w.count("session.branch"), 2);
}

TEST(Ingest, C020_a_deleted_session_is_read_marked_and_never_extracted) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s5", {message(uuid(1), "user", "remember user.badge = teal", kMs)})};
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM facts WHERE is_deleted = 0"), 1);
  db->streams[0].info.deleted = true;
  db->streams[0].info.deleted_evidence = "archive";
  db->streams.push_back(stream("s6", {message(uuid(2), "user", "remember user.hat = red", kMs)}));
  db->streams[1].info.deleted = true;
  w.drain();
  EXPECT_EQ(w.count("session.deleted"), 2);
  EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE recallable = 1"), 0);
  EXPECT_EQ(w.number("SELECT count(*) FROM facts WHERE is_deleted = 0"), 0);
  EXPECT_EQ(w.extractor->seen.size(), 1u) << "s6 was deleted before it was read";
}

TEST(Ingest, C021_a_database_without_tables_is_reported_and_used_when_it_validates) {
  World w;
  auto files = w.add("transcripts");
  auto lcm = w.add("lcm", "/lcm.db");
  lcm->health.state = SourceState::kNotInitialised;
  lcm->health.reason = "no_tables";
  files->streams = {stream(
      "s1", {message("a1", "user", "one", kMs), message("a2", "assistant", "two", kMs + 5000)})};
  lcm->streams = {stream(
      "s1", {lcm_row("a1", "user", "one", kMs), lcm_row("a2", "assistant", "two", kMs + 5000),
             lcm_row("a3", "user", "three", kMs + 9000)})};
  w.drain();
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 2);
  EXPECT_EQ(w.count("source.fallback"), 1);
  lcm->health = {};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 3);
  EXPECT_EQ(w.text("SELECT state FROM source_states WHERE carrier = 'lcm'"), "ok");
}

TEST(Ingest, C004_what_is_odd_about_a_carrier_that_is_well_stands_in_its_state) {
  World w;
  auto files = w.add("transcripts");
  files->streams = {stream("s1", {message("a1", "user", "hello", kMs)}, "")};
  files->health.notes = {"header id differs from file name: aaa.jsonl"};
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.text("SELECT state || ' ' || message FROM source_states"),
            "ok header id differs from file name: aaa.jsonl");
}

TEST(Ingest, C001_a_silent_carrier_is_stale_once_and_recovers) {
  World w;
  auto files = w.add("transcripts");
  auto db = w.add("agent-db");
  files->streams = {stream("s1", {message("a1", "user", "july", kMs - 60 * kDayMs)})};
  db->streams = {stream("s2", {message(uuid(1), "user", "september", kMs)})};
  w.drain();
  w.drain();
  EXPECT_EQ(w.text("SELECT state FROM source_states WHERE carrier = 'transcripts'"), "stale");
  EXPECT_EQ(w.text("SELECT state FROM source_states WHERE carrier = 'agent-db'"), "ok");
  EXPECT_EQ(w.count("source.fallback"), 1);
  EXPECT_EQ(w.count("message.observed"), 2);
  db->streams[0].entries.push_back(message(uuid(2), "user", "more", kMs + 1000));
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 3);
  EXPECT_EQ(w.count("source.fallback"), 1);
}

TEST(Ingest, one_broken_carrier_does_not_hold_up_the_others) {
  World w;
  auto lcm = w.add("lcm", "/lcm.db");
  lcm->health = {SourceState::kIncompatible, "missing_column", "messages.seq", "", {}};
  auto files = w.add("transcripts");
  files->streams = {stream("s1", {message("a1", "user", "one", kMs)})};
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.count("message.observed"), 1);
  EXPECT_EQ(w.text("SELECT payload ->> '$.reason' FROM events WHERE type = 'source.fallback'"),
            "missing_column");
}

TEST(Ingest, a_stream_that_cannot_be_written_does_not_take_back_the_others) {
  World w;
  auto db = w.add("agent-db");
  Entry unfit = message(uuid(3), "user", "three", kMs);
  unfit.session_key = "agent:main:" + std::string(2 * kPayloadBytesMax, 'x');
  db->streams = {stream("s1", {message(uuid(1), "user", "one", kMs + 2)}, "agent:main:a"),
                 stream("s2", {message(uuid(2), "user", "two", kMs + 1)}, "agent:main:b"),
                 stream("s3", {unfit}, "agent:main:c")};
  EXPECT_FALSE(w.pipeline->run_until_idle({}).value().done);
  EXPECT_EQ(w.count("message.observed"), 2);
  const auto failures = w.worker_failures();
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_THAT(failures[0], testing::HasSubstr("payload_too_big"));
  db->streams.pop_back();
  w.reopen();
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 2);
}

TEST(Ingest, many_short_sessions_share_a_commit) {
  World w;
  auto db = w.add("agent-db");
  for (int i = 1; i <= 60; ++i) {
    const std::string n = std::to_string(i);
    db->streams.push_back(
        stream("s" + n, {message(uuid(i), "user", "m" + n, kMs + i)}, "agent:main:k" + n));
  }
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 60);
  for (const auto& row : w.pipeline->status()) {
    if (row.name == "ingest") {
      EXPECT_LE(row.commits, 4);
    }
  }
}

TEST(Ingest, incognito_and_ignored_sessions_are_never_logged) {
  World w;
  w.options.sources.ignore_sessions = {"agent:*:telegram:group:-77*"};
  w.reopen();
  auto db = w.add("agent-db");
  db->streams = {
      stream("s1", {message(uuid(1), "user", "secret", kMs)}, "agent:main:incognito-9"),
      stream("s2", {message(uuid(2), "user", "noise", kMs)}, "agent:main:telegram:group:-771"),
      stream("s3", {message(uuid(3), "user", "fine", kMs)}, "agent:main:telegram:group:-5")};
  w.drain();
  EXPECT_EQ(w.count("message.observed"), 1);
}

// What a host that records our requests as sessions takes down: the last word of each kind.
std::vector<std::string> recorded_prompts() {
  std::vector<std::string> out;
  const auto record = [&](const HttpRequest& request) {
    const json::value body = parse_json(request.body).value();
    const json::array* list = find_array(body.get_object(), "messages");
    const bool google = list == nullptr;
    if (google) list = find_array(body.get_object(), "contents");
    const json::object& last = list->back().get_object();
    out.push_back(google ? get_string(find_array(last, "parts")->front().get_object(), "text")
                         : get_string(last, "content"));
  };
  EndpointOptions endpoint;
  endpoint.url = "https://x.test/v1";
  record(Chat(endpoint, "extract").request("Be brief", "Hi", true));
  for (const Provider provider : {Provider::kAnthropic, Provider::kOpenai, Provider::kGoogle,
                                  Provider::kOpenrouter, Provider::kCompatible}) {
    AskOptions options;
    options.provider = provider;
    options.url = endpoint.url;
    record(plan_ask(options, {"Be brief", "Which provider?"}));
  }
  return out;
}

TEST(Ingest, C085_our_own_prompts_and_their_answers_are_no_talk) {
  World w;
  auto db = w.add("agent-db");
  int n = 0;
  for (const std::string& prompt : recorded_prompts()) {
    const std::string asked = uuid(n + 1), answer = uuid(n + 2);
    n += 2;
    db->streams.push_back(
        stream("s" + std::to_string(n), {message(asked, "user", prompt, kMs + n),
                                         message(answer, "assistant", "{}", kMs + n + 1, asked)}));
  }
  w.drain();
  EXPECT_EQ(n, 12);
  EXPECT_EQ(w.number("SELECT count(*) FROM events WHERE payload ->> '$.noise' = 'own_call'"), n);
  EXPECT_EQ(w.extractor->calls, 0);
  EXPECT_EQ(w.embedder->embedded, 0u);
}

TEST(Ingest, senders_are_the_host_s_ids_else_the_peer_else_the_owner) {
  const Entry plain = message("x", "user", "hi", kMs);
  Entry named = plain;
  named.sender_id = "7";
  named.channel = "telegram";
  EXPECT_EQ(sender_of(named, "user", "agent:main:telegram:group:-5"), "telegram:7");
  EXPECT_EQ(sender_of(plain, "user", "agent:main:telegram:group:-5"), "");
  EXPECT_EQ(sender_of(plain, "user", "agent:main:telegram:direct:101"), "telegram:101");
  EXPECT_EQ(sender_of(plain, "user", "agent:main:telegram:direct:101:thread:3"), "telegram:101");
  EXPECT_EQ(sender_of(plain, "user", "agent:main:main"), "owner");
  EXPECT_EQ(sender_of(plain, "user", "agent:main:script"), "");
  EXPECT_EQ(sender_of(named, "assistant", "agent:main:main"), "");
}

TEST(Ingest, parents_are_the_same_whatever_the_batches_and_restarts) {
  std::vector<Entry> entries;
  std::string above;
  for (int i = 1; i <= 30; ++i) {
    Entry change;
    change.entry_id = "x" + std::to_string(i);
    change.parent_id = above;
    entries.push_back(change);
    entries.push_back(message(uuid(i), i % 2 ? "user" : "assistant", "m" + std::to_string(i),
                              kMs + i, change.entry_id));
    above = uuid(i);
  }
  std::set<std::string> digests;
  for (const std::size_t batch : {500, 1, 3, 7}) {
    World w;
    auto files = w.add("transcripts");
    files->batch_items = batch;
    for (std::size_t shown = batch == 7 ? 11 : 60; shown <= 60; shown += 7) {
      files->streams = {
          stream("s1", {entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(shown)})};
      w.drain();
      w.reopen();
    }
    files->streams = {stream("s1", entries)};
    w.drain();
    EXPECT_EQ(w.count("message.observed"), 30);
    digests.insert(
        w.text("SELECT group_concat(payload ->> '$.entry_id' || '<' ||"
               " coalesce(m.entry_id, ''), ' ') FROM (SELECT payload, payload ->>"
               " '$.parent' AS p FROM events WHERE type = 'message.observed' ORDER BY"
               " payload ->> '$.entry_id') LEFT JOIN messages m ON m.seq = p"));
  }
  EXPECT_EQ(digests.size(), 1u);
}

TEST(Ingest, verbatim_keeps_texts_but_never_one_with_a_secret) {
  World w;
  w.options.retention = Retention::kVerbatim;
  w.reopen();
  auto db = w.add("agent-db");
  db->streams = {
      stream("s1", {message(uuid(1), "user", "I prefer tea", kMs),
                    message(uuid(2), "user",
                            "export DEPLOY_TOKEN=tok_live_EXAMPLE000000000000000000", kMs + 1)})};
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM bodies"), 1);
}

}  // namespace
}  // namespace clawmark
