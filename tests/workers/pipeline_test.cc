// The workers together: windows, parking, models that fail or change, the driver's threads.

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/limits.h"
#include "models/transport.h"
#include "projections/rebuild.h"
#include "tests/workers/support.h"

namespace clawmark {
namespace {

constexpr std::int64_t kMs = 1'795'000'000'000 - kHourMs;

// `count` messages, user and assistant in turn, a minute apart.
std::vector<Entry> talk(int from, int count, std::int64_t ms = kMs) {
  std::vector<Entry> out;
  for (int i = from; i < from + count; ++i) {
    out.push_back(message(uuid(i), i % 2 ? "user" : "assistant",
                          "this is message number " + std::to_string(i), ms + i * 1000));
  }
  return out;
}

HttpResponse http(int status) {
  HttpResponse response;
  response.status = status;
  return response;
}

NewEvent stated(const std::string& key, const std::string& value, const std::string& id,
                TimeMs now) {
  NewEvent event;
  event.type = event_type::kFactStated;
  event.scope.agent = "main";
  event.dedupe_key = "stated:" + id;
  event.occurred = now;
  event.payload = {{"key", key},    {"value", value},   {"holder", "person:owner"},
                   {"subject", ""}, {"source", "user"}, {"confidence", 1.0},
                   {"by", "cli"}};
  return event;
}

TEST(Pipeline, a_conversation_that_becomes_known_later_opens_what_was_said_in_it) {
  World w;
  auto files = w.add("transcripts");
  Entry said = message("a1", "user", "remember pref.editor = helix", kMs);
  Entry answer = message("a2", "assistant", "Noted.", kMs + 1);
  answer.parent_id = "a1";
  files->streams = {stream("s1", {said, answer}, "")};
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.text("SELECT group_concat(DISTINCT audience) FROM messages"), "unplaced");
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors"), 0);
  EXPECT_EQ(w.number("SELECT count(*) FROM facts"), 0);
  Entry more = message("a3", "user", "remember pref.tea = green", kMs + 2);
  more.parent_id = "a2";
  for (int again = 0; again < 2; ++again) {
    files->streams = {stream("s1", {said, answer, more}, "agent:main:telegram:direct:101")};
    EXPECT_TRUE(w.drain().done);
    EXPECT_EQ(w.count("message.observed"), 3);
    EXPECT_EQ(w.count("message.sighted"), 2);
    EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE recallable = 1"), 3);
    EXPECT_EQ(w.number("SELECT count(*) FROM vectors"), 3);
    EXPECT_EQ(w.text("SELECT group_concat(holder || '|' || key) FROM (SELECT * FROM facts ORDER BY"
                     " key)"),
              "person:telegram:101|pref.editor,person:telegram:101|pref.tea");
  }
}

TEST(Pipeline, a_built_in_extractor_does_not_wait_and_facts_carry_their_holder) {
  World w;
  auto db = w.add("agent-db");
  Entry direct = message(uuid(1), "user", "remember pref.editor = helix", kMs);
  direct.sender_id = "101";
  Entry group = message(uuid(2), "user", "remember user.city = Gdynia", kMs + 1);
  group.sender_id = "102";
  group.channel = "telegram";
  Entry named = message(uuid(3), "user", "remember project.port = 9090", kMs + 2);
  Entry owner = message(uuid(4), "user", "remember pref.tea = green", kMs + 3);
  Entry agreed = message(uuid(5), "user", "remember project.paper = matt", kMs + 4);
  agreed.sender_id = "102";
  agreed.channel = "telegram";
  db->streams = {stream("s1", {direct}, "agent:main:telegram:direct:101"),
                 stream("s2", {group, agreed}, "agent:main:telegram:group:-5"),
                 stream("s3", {named}, "agent:main:nightwork"), stream("s4", {owner})};
  EXPECT_TRUE(w.drain().done);
  const auto holder = [&](const std::string& key) {
    return w.text("SELECT holder || '|' || subject FROM facts WHERE key = '" + key + "'");
  };
  EXPECT_EQ(holder("pref.editor"), "person:telegram:101|");
  EXPECT_EQ(holder("user.city"), "group:agent:main:telegram:group:-5|telegram:102");
  EXPECT_EQ(holder("project.paper"), "group:agent:main:telegram:group:-5|");
  EXPECT_EQ(holder("project.port"), "session:agent:main:nightwork|");
  EXPECT_EQ(holder("pref.tea"), "person:owner|");
}

TEST(Pipeline, C071_noise_other_lanes_and_tools_are_neither_embedded_nor_extracted) {
  World w;
  auto db = w.add("agent-db");
  Entry beat = message(uuid(1), "user", "[OpenClaw heartbeat poll]", kMs);
  beat.noise = "heartbeat";
  Entry ack = message(uuid(2), "assistant", "HEARTBEAT_OK", kMs + 1);
  ack.noise = "ack";
  Entry tool = message(uuid(3), "toolResult", "remember user.name = Mallory", kMs + 2);
  tool.entry_class = "toolResult";
  const Entry said = message(uuid(4), "user", "remember project.invoices = Dana", kMs + 3);
  const Entry cron = message(uuid(5), "user", "remember user.cron = yes", kMs + 4);
  db->streams = {stream("s1", {beat, ack, tool, said}),
                 stream("s2", {cron}, "agent:main:cron:nightly:run:7")};
  w.drain();
  EXPECT_EQ(w.extractor->seen.size(), 1u);
  EXPECT_EQ(w.embedder->embedded, 1u);
  EXPECT_EQ(w.number("SELECT count(*) FROM facts"), 1);
}

TEST(Pipeline, assistant_text_never_vouches_for_a_fact) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {
      stream("s1", {message(uuid(1), "user", "what is my editor?", kMs),
                    message(uuid(2), "assistant", "remember pref.editor = vim", kMs + 1)})};
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM facts WHERE is_deleted = 0"), 0);
}

struct EndpointWorld : World {
  EndpointWorld() {
    extractor->local = false;
    embedder->local = true;
    reopen();
  }
  std::int64_t windows() { return count("extraction.completed"); }
};

TEST(Extract, windows_are_full_or_old_and_a_short_tail_is_not_starved) {
  EndpointWorld w;
  w.extractor->local = false;
  w.call = [](const HttpRequest&) { return http(200); };
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 35))};
  // Without drain's hurry: the driver's view, step by step.
  OnceOptions once;
  once.call = w.call;
  w.drain();
  EXPECT_EQ(w.windows(), 2) << "a drain takes the tail too";
  EXPECT_EQ(w.text("SELECT group_concat(json_array_length(payload, '$.messages')) FROM events"
                   " WHERE type = 'extraction.completed'"),
            "30,5");
}

TEST(Extract, C031_http_401_keeps_the_cursor_until_the_key_is_right) {
  EndpointWorld w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 30))};
  w.call = [](const HttpRequest&) { return http(401); };
  w.waits = 8;
  auto report = w.drain();
  EXPECT_FALSE(report.done);
  EXPECT_EQ(w.number("SELECT pos FROM cursors WHERE worker = 'extract'"), 0);
  std::string why;
  for (const auto& row : report.workers) {
    if (row.worker == "extract") why = row.why;
  }
  EXPECT_THAT(why, testing::HasSubstr("blocked: http_401 since "));
  w.call = [](const HttpRequest&) { return http(200); };
  w.waits = 3;
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.extractor->seen.size(), 30u);
  EXPECT_EQ(w.count("batch.parked"), 0);
}

TEST(Extract, C030_one_poison_message_of_twenty_is_parked_and_can_be_retried) {
  EndpointWorld w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 20))};
  bool cured = false;
  w.call = [&](const HttpRequest& request) {
    const bool poison = request.body.find("number 3\n") != std::string::npos;
    return http(poison && !cured ? 400 : 200);
  };
  w.waits = 20;
  auto report = w.drain();
  EXPECT_TRUE(report.done);
  EXPECT_EQ(report.parked, 1);
  EXPECT_EQ(w.extractor->seen.size(), 19u);
  EXPECT_EQ(w.text("SELECT reason || attempts FROM parked"), "rejected3");
  EXPECT_EQ(w.number("SELECT pos FROM cursors WHERE worker = 'extract'"),
            w.number("SELECT pos FROM cursors WHERE worker = 'project.messages'"));
  w.reopen();
  w.drain();
  EXPECT_EQ(w.extractor->seen.size(), 19u) << "parked stays parked over a restart";
  cured = true;
  EXPECT_EQ(w.pipeline->retry_parked("extract").value_or(0), 1u);
  EXPECT_EQ(w.drain().parked, 0);
  EXPECT_EQ(w.extractor->seen.size(), 20u);
  EXPECT_EQ(w.count("batch.retried"), 1);
}

TEST(Extract, nothing_is_extracted_twice_over_restarts) {
  EndpointWorld w;
  auto db = w.add("agent-db");
  w.call = [](const HttpRequest&) { return http(200); };
  for (int i = 0; i < 5; ++i) {
    db->streams.push_back(
        stream("s" + std::to_string(i), talk(100 * i + 1, 33), "agent:main:k" + std::to_string(i)));
  }
  int slices = 0;
  for (int round = 0; round < 40; ++round) {
    OnceOptions once;
    once.call = w.call;
    slices = 0;
    once.slice = [&] { return ++slices < 9 + round; };  // cut off somewhere
    (void)w.pipeline->run_until_idle(once);
    w.reopen();
  }
  w.drain();
  auto seen = w.extractor->seen;
  const std::set<std::int64_t> distinct(seen.begin(), seen.end());
  EXPECT_EQ(distinct.size(), 165u);
  EXPECT_EQ(w.number("SELECT sum(json_array_length(payload, '$.messages')) FROM events"
                     " WHERE type = 'extraction.completed'"),
            165);
}

TEST(Extract, C085_a_daily_cap_stops_the_model_workers_and_the_next_day_resumes) {
  World w;
  w.extractor->local = false;
  w.options.limits.daily_tokens = 250;
  w.reopen();
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 120))};
  w.call = [](const HttpRequest&) { return http(200); };
  auto report = w.drain();
  EXPECT_FALSE(report.done);
  EXPECT_LE(w.extractor->calls, 3);
  const int first_day = w.extractor->calls;
  EXPECT_GT(w.number("SELECT sum(input_tokens + output_tokens) FROM spend"), 0);
  w.waits = 10;
  EXPECT_TRUE(w.drain().done);
  EXPECT_GT(w.extractor->calls, first_day);
  EXPECT_GT(w.number("SELECT count(DISTINCT day) FROM spend WHERE worker = 'extract'"), 1);
}

TEST(Extract, C076_a_secret_reaches_neither_model_nor_log) {
  World w;
  auto db = w.add("agent-db");
  const std::string secret = "tok_live_EXAMPLE000000000000000000";
  db->streams = {stream(
      "s1",
      {message(uuid(1), "user", "remember user.token = export DEPLOY_TOKEN=" + secret, kMs)})};
  w.drain();
  ASSERT_EQ(w.extractor->texts.size(), 1u);
  EXPECT_THAT(w.extractor->texts[0], testing::Not(testing::HasSubstr(secret)));
  EXPECT_EQ(w.number("SELECT count(*) FROM events WHERE instr(payload, '" + secret + "')"), 0);
}

TEST(Embed, C044_another_model_embeds_again_and_switching_back_asks_nothing) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 100))};
  w.drain();
  EXPECT_EQ(w.embedder->embedded, 100u);
  const auto first = w.embedder;
  w.embedder = std::make_shared<FakeEmbedder>();
  w.embedder->id = {"fake-b", 16};
  w.reopen();
  w.drain();
  EXPECT_EQ(w.embedder->embedded, 100u);
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors WHERE length(vector) <> (SELECT dims FROM"
                     " embedding_models WHERE id = model)"),
            0);
  w.embedder = first;
  w.reopen();
  w.drain();
  EXPECT_EQ(first->embedded, 100u);
  // The same name with another length is another model.
  w.embedder = std::make_shared<FakeEmbedder>();
  w.embedder->id = {"fake-a", 12};
  w.reopen();
  w.drain();
  EXPECT_EQ(w.embedder->embedded, 100u);
  EXPECT_EQ(w.number("SELECT dims FROM embedding_models WHERE name = 'fake-a'"), 12);
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors v JOIN embedding_models m ON m.id = v.model"
                     " WHERE length(v.vector) <> m.dims"),
            0);
}

TEST(Embed, C042_a_poison_text_is_parked_and_the_others_are_stored) {
  World w;
  w.embedder->local = false;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 16))};
  int calls = 0;
  w.call = [&](const HttpRequest& request) {
    ++calls;
    return http(request.body.find("number 7") != std::string::npos ? 500 : 200);
  };
  w.waits = 10;
  EXPECT_EQ(w.drain().parked, 1);
  EXPECT_LE(calls, 12);
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors"), 15);
  EXPECT_EQ(w.text("SELECT worker || reason FROM parked"), "embedrejected");
}

TEST(Embed, long_texts_are_cut_into_chunks_that_give_back_the_text) {
  World w;
  auto db = w.add("agent-db");
  std::string text;
  for (int i = 0; i < 400; ++i) text += "Sentence number " + std::to_string(i) + ". ";
  text += "end";
  db->streams = {stream("s1", {message(uuid(1), "user", text, kMs)})};
  w.drain();
  EXPECT_GT(w.number("SELECT count(*) FROM chunks"), 4);
  EXPECT_EQ(w.number("SELECT sum(length) FROM chunks"), static_cast<std::int64_t>(text.size()));
  EXPECT_LE(w.number("SELECT max(length) FROM chunks"), static_cast<std::int64_t>(kChunkBytes));
}

TEST(Embed, texts_that_no_carrier_gives_are_parked_not_dropped) {
  World w;
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 3))};
  db->texts_gone = true;
  w.waits = 20;
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM parked WHERE worker = 'embed' AND reason ="
                     " 'body_gone'"),
            3);
  db->texts_gone = false;
  w.clock.advance(20 * kMinuteMs);
  EXPECT_EQ(w.pipeline->retry_parked("embed").value_or(0), 3u);
  w.drain();
  EXPECT_EQ(w.embedder->embedded, 3u);
  EXPECT_EQ(w.number("SELECT count(*) FROM parked WHERE worker = 'embed'"), 0);
}

TEST(Embed, C164_what_is_said_now_goes_before_the_backlog) {
  World w;
  w.embedder->local = false;
  w.extractor.reset();
  w.reopen();
  auto db = w.add("agent-db");
  db->streams = {stream("old", talk(1, 1500, kMs - 300 * kDayMs))};
  int budget = 0;
  w.call = [&](const HttpRequest&) -> Result<HttpResponse> {
    if (budget-- > 0) return http(200);
    return make_error(ErrorKind::kRetriable, "transport", "connect", "later");
  };
  w.drain();
  const std::int64_t now = w.clock.now().value;
  db->streams.push_back(
      stream("new", {message(uuid(9999), "user", "just said", now)}, "agent:main:other"));
  budget = 20;
  w.waits = 2;
  w.drain();
  EXPECT_EQ(w.number("SELECT count(*) FROM chunks WHERE message = (SELECT seq FROM messages WHERE"
                     " entry_id = '" +
                     uuid(9999) + "')"),
            1);
  EXPECT_LT(w.number("SELECT count(*) FROM chunks"), 700);
}

TEST(Pipeline, C104_reading_history_again_does_not_make_facts_fresh) {
  World w;
  auto db = w.add("agent-db");
  const std::int64_t january = kMs - 250 * kDayMs;
  db->streams = {stream("s1", {message(uuid(1), "user", "remember pref.editor = helix", january)})};
  w.drain();
  db->streams.push_back(
      stream("s2", {message(uuid(1), "user", "remember pref.editor = helix", january)}));
  w.drain();
  EXPECT_EQ(w.number("SELECT last_observed_ms FROM facts"), january);
  EXPECT_EQ(w.number("SELECT observations FROM facts"), 1);
}

TEST(Pipeline, a_stated_fact_is_there_when_it_is_acknowledged) {
  World w;
  const NewEvent event = stated("pref.editor", "helix", "1", w.clock.now());
  ASSERT_TRUE(w.pipeline->append_now(std::span(&event, 1)).ok());
  EXPECT_EQ(w.text("SELECT value FROM facts WHERE key = 'pref.editor'"), "helix");
}

TEST(Pipeline, rebuilding_gives_the_digest_of_the_live_state) {
  World w;
  auto db = w.add("agent-db");
  auto entries = talk(1, 60);
  entries.push_back(message(uuid(500), "user", "remember pref.a = b", kMs + 100'000));
  db->streams = {stream("s1", entries)};
  w.drain();
  auto report = verify(w.store->db(), w.pipeline->projections(), w.clock.now());
  ASSERT_TRUE(report.ok()) << describe(report.error());
  EXPECT_TRUE(report->ok()) << testing::PrintToString(report->problems);
}

// --- With threads --------------------------------------------------------------------------------

TEST(Driver, drains_serves_commands_between_slices_and_stops) {
  World w;
  auto db = w.add("agent-db");
  db->batch_items = 20;
  db->streams = {stream("s1", talk(1, 2000))};
  w.pipeline->start({});
  std::atomic<int> acknowledged{0};
  std::thread user([&] {
    for (int i = 0; i < 20; ++i) {
      const NewEvent event =
          stated("pref.k" + std::to_string(i), "v", std::to_string(i), w.clock.now());
      if (w.pipeline->append_now(std::span(&event, 1)).ok()) ++acknowledged;
    }
  });
  auto report = w.pipeline->drain(60'000);
  user.join();
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->done) << testing::PrintToString(report->workers.size());
  EXPECT_EQ(acknowledged, 20);
  EXPECT_EQ(w.pipeline->status().size(), 12u);
  w.pipeline->stop();
  EXPECT_FALSE(w.pipeline->running());
  EXPECT_EQ(w.count("message.observed"), 2000);
  EXPECT_EQ(w.number("SELECT count(*) FROM facts"), 20);
  EXPECT_EQ(w.number("SELECT count(*) FROM vectors"), 2000);
}

TEST(Driver, C027_a_drain_that_cannot_finish_says_what_remains_and_why) {
  World w;
  w.embedder->local = false;  // nobody listens at its address
  w.reopen();
  auto db = w.add("agent-db");
  db->streams = {stream("s1", talk(1, 50))};
  w.pipeline->start({});
  auto report = w.pipeline->drain(30'000);
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->done);
  for (const auto& row : report->workers) {
    if (row.worker == "embed") {
      EXPECT_EQ(row.remaining, 50);
      EXPECT_THAT(row.why, testing::HasSubstr("waiting until"));
    } else {
      EXPECT_EQ(row.remaining, 0) << row.worker;
    }
  }
  w.pipeline->stop();
}

}  // namespace
}  // namespace clawmark
