// Large contents: known once by their hash, whatever happens on the way, and forgotten with the
// message that holds them.

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "base/files.h"
#include "log/graph_events.h"
#include "projections/forgetting.h"
#include "projections/large_files.h"
#include "projections/rebuild.h"
#include "tests/workers/graph_support.h"
#include "workers/purge.h"

namespace clawmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kKey[] = "agent:main:telegram:direct:101";

std::string log_text(int lines, const std::string& word) {
  std::string out;
  for (int n = 0; n < lines; ++n) {
    out += "2026-11-20 10:00:" + std::to_string(10 + n % 50) + " INFO request " +
           std::to_string(n) + " of " + word + "\n";
  }
  return out;
}

Entry tool_result(int n, const std::string& text) {
  Entry entry = message(uuid(n), "tool", text, kMs + n * 1000, uuid(n - 1));
  entry.entry_class = "toolResult";
  return entry;
}

struct ExploreWorld : GraphWorld {
  explicit ExploreWorld(std::size_t tokens = 1000) {
    options.large_file_tokens = tokens;
    reopen();
  }
  std::shared_ptr<FakeCarrier> tell(std::vector<Entry> entries,
                                    const std::string& carrier = "agent-db") {
    auto held = add(carrier);
    held->streams = {stream("s1", std::move(entries), kKey)};
    return held;
  }
  std::vector<LargeFileRow> files(const std::string& audience = "person:telegram:101") {
    const std::vector<std::string> heard{audience};
    auto rows = list_large_files(store->db(), {"main", heard}, 50);
    EXPECT_TRUE(rows.ok()) << describe(rows.error());
    return rows.ok() ? std::move(rows).value() : std::vector<LargeFileRow>{};
  }
  void expect_verified() {
    auto report = verify(store->db(), pipeline->projections(), clock.now());
    ASSERT_TRUE(report.ok()) << describe(report.error());
    EXPECT_TRUE(report->ok()) << testing::PrintToString(report->problems);
  }
  void forget(int n) {
    const Seq seq{number("SELECT seq FROM events WHERE dedupe_key = 'msg:main:" + uuid(n) + "'")};
    auto rows = read_messages(store->db(), std::span(&seq, 1));
    ASSERT_TRUE(rows.ok());
    auto events = message_tombstones(store->db(), *rows, false, "asked", clock.now());
    ASSERT_TRUE(events.ok());
    ASSERT_TRUE(pipeline->append_now(*events).ok());
  }
  bool bytes_hold(const std::string& needle) {
    const std::string folder = dir_name(dir / "clawmark.db");
    for (const auto& name : list_dir(folder)) {
      std::ifstream file(join_path(folder, name), std::ios::binary);
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      if (content.find(needle) != std::string::npos) return true;
    }
    return false;
  }
};

TEST(ExploreWorker, a_large_tool_result_is_known_by_its_content_with_a_summary_of_its_kind) {
  ExploreWorld w;
  const std::string large = log_text(400, "pinnace");
  w.tell({said(1, "what does the log say?"), tool_result(2, large), tool_result(3, "small")});
  EXPECT_TRUE(w.drain().done);
  const auto files = w.files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].id, "lf_" + to_hex(sha256(large)).substr(0, 16));
  EXPECT_EQ(files[0].kind, "log");
  EXPECT_EQ(files[0].bytes, static_cast<std::int64_t>(large.size()));
  EXPECT_TRUE(files[0].whole);
  EXPECT_THAT(files[0].summary, HasSubstr("400 times: INFO request # of pinnace"));
  w.expect_verified();
}

TEST(ExploreWorker, exactly_at_the_threshold_is_large_and_one_below_is_not) {
  ExploreWorld w;
  w.tell({said(1, std::string(4 * 999, 'a')), said(2, std::string(4 * 999 + 1, 'b'))});
  EXPECT_TRUE(w.drain().done);
  const auto files = w.files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].tokens, 1000);
}

TEST(ExploreWorker, the_host_s_envelope_around_a_content_is_no_part_of_it) {
  std::string rows = "[";
  for (int n = 0; n < 400; ++n) {
    rows += (n == 0 ? "" : ",\n") + ("{\"seat\":" + std::to_string(n)) + ",\"free\":true}";
  }
  rows += "]";
  const std::string envelope =
      "Conversation info (untrusted metadata):\n```json\n{\n  \"sender_id\": \"101\"\n}\n```\n\n";
  ExploreWorld w;
  w.tell({said(1, rows), said(2, envelope + rows)});
  EXPECT_TRUE(w.drain().done);
  const auto files = w.files();
  ASSERT_EQ(files.size(), 1U);  // the same content, whoever sent it
  EXPECT_EQ(files[0].kind, "json");
  EXPECT_EQ(w.text("SELECT group_concat(payload ->> '$.start' || ' ' || (payload ->> '$.whole')) "
                   "FROM events WHERE type = 'file.explored'"),
            "0 1," + std::to_string(envelope.size()) + " 1");
}

TEST(ExploreWorker, nothing_is_explored_twice_after_a_restart_or_with_a_cursor_that_was_lost) {
  ExploreWorld w;
  w.tell({said(1, log_text(400, "a")), tool_result(2, log_text(400, "b"))});
  EXPECT_TRUE(w.drain().done);
  ASSERT_EQ(w.count(event_type::kFileExplored), 2);
  w.reopen();
  EXPECT_TRUE(w.drain().done);
  ASSERT_TRUE(w.store->db().exec("UPDATE cursors SET pos = 0 WHERE worker = 'explore'").ok());
  w.reopen();
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.count(event_type::kFileExplored), 2);
  w.expect_verified();
}

TEST(ExploreWorker, attached_files_are_contents_of_their_own_and_the_same_content_is_one) {
  ExploreWorld w;
  const std::string inside = log_text(400, "berths");
  const std::string text =
      "look:\n<file name=\"berths.log\" mime=\"text/plain\">" + inside + "</file>\nwhat is wrong?";
  w.tell({said(1, text), tool_result(2, inside)});
  EXPECT_TRUE(w.drain().done);
  const auto files = w.files();
  ASSERT_EQ(files.size(), 1U) << "one content, in two messages";
  const std::vector<std::string> heard{"person:telegram:101"};
  const FileScope scope{"main", heard};
  const auto parts = large_files_of_text(w.store->db(), scope, sha256(text));
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 1U);
  EXPECT_EQ(parts->front().name, "berths.log");
  EXPECT_EQ(text.substr(static_cast<std::size_t>(parts->front().start),
                        static_cast<std::size_t>(parts->front().bytes)),
            inside);
  EXPECT_FALSE(parts->front().whole);
}

TEST(ExploreWorker, a_content_goes_with_its_message_at_once_after_a_rebuild_and_from_the_bytes) {
  ExploreWorld w;
  w.tell({said(1, "hello"), said(2, log_text(400, "pinnace")), said(3, log_text(400, "rota"))});
  EXPECT_TRUE(w.drain().done);
  ASSERT_EQ(w.files().size(), 2U);
  ASSERT_TRUE(w.bytes_hold("pinnace"));
  w.clock.advance(1000);
  w.forget(2);
  EXPECT_EQ(w.files().size(), 1U);
  for (Projection* projection : w.pipeline->projections()) {
    ASSERT_TRUE(rebuild(w.store->db(), *projection, w.clock.now(), {}).ok());
  }
  EXPECT_EQ(w.files().size(), 1U);
  w.expect_verified();
  auto report = purge(*w.store, w.pipeline->projections(), w.clock.now());
  ASSERT_TRUE(report.ok()) << describe(report.error());
  EXPECT_FALSE(w.bytes_hold("pinnace"));
  EXPECT_EQ(w.files().size(), 1U);
  w.expect_verified();
  w.reopen();
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.files().size(), 1U) << "it does not come back";
  EXPECT_FALSE(w.bytes_hold("pinnace"));
}

TEST(ExploreWorker, the_order_in_which_carriers_are_read_does_not_matter) {
  std::set<std::string> digests;
  for (const bool turned : {false, true}) {
    ExploreWorld w;
    const std::vector<Entry> one{said(1, log_text(400, "a")), said(2, log_text(400, "b"))};
    const std::vector<Entry> two{said(3, log_text(300, "c")), said(2, log_text(400, "b"))};
    auto first = w.add("agent-db");
    auto second = w.add("agent-db", "/other");
    (turned ? second : first)->streams = {stream("s1", one, kKey)};
    (turned ? first : second)->streams = {stream("s2", two, kKey)};
    EXPECT_TRUE(w.drain().done);
    EXPECT_EQ(w.files().size(), 3U);
    digests.insert(
        w.text("SELECT group_concat(id || kind || summary || entry_id) FROM (SELECT id, "
               "kind, summary, entry_id FROM graph_files ORDER BY id)"));
    w.expect_verified();
  }
  EXPECT_EQ(digests.size(), 1U);
}

TEST(ExploreWorker, a_text_that_is_gone_leaves_no_content_and_holds_nothing_up) {
  ExploreWorld w;
  auto held = w.tell({said(1, "hello"), said(2, log_text(400, "pinnace"))});
  held->texts_gone = true;
  w.waits = 10;
  EXPECT_TRUE(w.drain().done);
  EXPECT_THAT(w.files(), IsEmpty());
  EXPECT_EQ(w.number("SELECT pos = (SELECT max(seq) FROM events WHERE type <> 'batch.parked') OR "
                     "pos > 0 FROM cursors WHERE worker = 'explore'"),
            1);
}

TEST(ExploreWorker, who_did_not_hear_the_message_does_not_know_the_content) {
  ExploreWorld w;
  w.tell({said(1, log_text(400, "pinnace"))});
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.files().size(), 1U);
  EXPECT_THAT(w.files("person:telegram:202"), IsEmpty());
  EXPECT_THAT(w.files("agent"), IsEmpty());
}

}  // namespace
}  // namespace clawmark
