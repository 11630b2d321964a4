// A 30 MiB line must not need its own size in memory many times over: measured in a process of its
// own.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>

#include "base/clock.h"
#include "base/files.h"
#include "base/limits.h"
#include "sources/agent_db_source.h"
#include "sources/transcript_source.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

constexpr std::int64_t kBlobBytes = 30ll << 20;
constexpr long kRssMaxKib = 256 * 1024;
const std::string kAfter =
    R"({"type":"message","id":"m9","parentId":null,"timestamp":"2026-08-03T09:00:00.000Z",)"
    R"("message":{"role":"user","content":[{"type":"text","text":"after the blob"}]}})";

std::string blob_head() {
  return R"({"type":"message","id":"big","parentId":null,"timestamp":"2026-08-03T08:59:00.000Z",)"
         R"("message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":")";
}

// Runs `read` in a child and gives its peak resident size in KiB; -1 when it failed.
long peak_rss_of(const std::function<bool()>& read) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(read() ? 0 : 1);
  int status = 0;
  struct rusage usage{};
  if (::wait4(child, &status, 0, &usage) != child) return -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? usage.ru_maxrss : -1;
}

bool blob_and_what_follows(MessageSource& source) {
  bool blob = false, after = false;
  for (const auto& [key, drained] : test::drain_all(source)) {
    for (const auto& e : drained.entries) {
      blob |=
          e.entry_id == "big" && e.bytes == kBlobBytes && e.text.size() < 3 * kEntryExcerptBytes;
      after |= e.entry_id == "m9" && e.text == "after the blob";
    }
  }
  return blob && after;
}

TEST(SourceMemory, C010_a_30_MiB_line_in_a_transcript_is_read_within_256_MiB) {
  support::TempDir dir;
  const auto folder = dir / "agents/main/sessions";
  support::write_text(folder + "/s1.jsonl", "");
  {
    std::ofstream out(folder + "/s1.jsonl", std::ios::binary);
    out << blob_head();
    const std::string piece(1 << 20, 'Q');
    for (std::int64_t n = 0; n < kBlobBytes; n += 1 << 20) out << piece;
    out << "\"}]}}\n" << kAfter << "\n";
  }
  const auto rss = peak_rss_of([&] {
    TranscriptSource source({folder}, "main", {});
    return blob_and_what_follows(source);
  });
  ASSERT_GT(rss, 0);
  EXPECT_LT(rss, kRssMaxKib);
  RecordProperty("peak_rss_kib", static_cast<int>(rss));
  std::printf("peak RSS, transcript: %ld KiB\n", rss);
}

TEST(SourceMemory, C010_a_30_MiB_row_in_the_agent_database_is_read_within_256_MiB) {
  support::TempDir dir;
  const pid_t writer = ::fork();  // so that the writer's memory is not in this process
  if (writer == 0) {
    support::AgentDbWriter db(dir.path(), "main");
    const auto c =
        support::make_conversation({.session_id = "5f0c2d1e-0000-4000-8000-000000000001"});
    db.write(c);
    db.append_json(c.session_id, blob_head() + std::string(kBlobBytes, 'Q') + "\"}]}}",
                   1'794'000'900'000);
    db.append_json(c.session_id, kAfter, 1'794'000'901'000);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const auto rss = peak_rss_of([&] {
    const SystemClock clock;
    AgentDbSource source(dir / "agents/main/agent/openclaw-agent.sqlite", "main", {}, clock);
    return blob_and_what_follows(source);
  });
  ASSERT_GT(rss, 0);
  EXPECT_LT(rss, kRssMaxKib);
  std::printf("peak RSS, agent database: %ld KiB\n", rss);
}

TEST(SourceMemory, a_line_longer_than_allowed_is_skipped_and_counted) {
  support::TempDir dir;
  const auto folder = dir / "agents/main/sessions";
  support::write_text(folder + "/s1.jsonl", "");
  {
    std::ofstream out(folder + "/s1.jsonl", std::ios::binary);
    out << blob_head();
    const std::string piece(1 << 20, 'Q');
    for (std::size_t n = 0; n <= kLineBytesMax; n += 1 << 20) out << piece;
    out << "\"}]}}\n" << kAfter << "\n";
  }
  TranscriptSource source({folder}, "main", {});
  const auto drained = test::drain(source, test::stream_of(source, "s1"));
  ASSERT_EQ(drained.skipped.size(), 1u);
  EXPECT_EQ(drained.skipped[0].line, 1);
  EXPECT_EQ(drained.skipped[0].reason, "too_long");
  EXPECT_EQ(drained.message_ids(), std::vector<std::string>{"m9"});
}

}  // namespace
}  // namespace clawmark
