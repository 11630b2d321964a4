// One archive that is damaged, one file that is not ours to read: named, tried again, and in
// nobody's way.

#include <gmock/gmock.h>

#include <filesystem>

#include "base/limits.h"
#include "base/zstd.h"
#include "tests/support/store_builder.h"
#include "tests/workers/support.h"

namespace clawmark {
namespace {

using support::AgentDbWriter;
using support::Conversation;
using support::Era;
using support::TranscriptWriter;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'794'000'000'000;
constexpr char kArchive[] = ".jsonl.reset.2026-11-01T09-00-00.000Z.zst";

Conversation talk(std::uint64_t seed, std::int64_t start_ms) {
  support::MakeOptions make;
  make.seed = seed;
  make.messages = 60;
  make.session_key = "agent:main:s" + std::to_string(seed);
  make.start_ms = start_ms;
  make.tools = false;
  return make_conversation(make);
}

// Two frames: what is in the first can be decoded without the second.
std::string two_frames(const std::string& text) {
  const std::size_t half = text.find('\n', text.size() / 2) + 1;
  return zstd_compress(text.substr(0, half)) + zstd_compress(text.substr(half));
}

// A frame that ends with a checksum, as `zstd -c` writes it, up to that checksum.
std::string raw_frame(const std::string& text) {
  std::string frame("\x28\xB5\x2F\xFD\x04\x58", 6);  // magic, checksum, a window of 2 MiB
  constexpr std::size_t kBlock = 100'000;
  for (std::size_t at = 0; at < text.size(); at += kBlock) {
    const std::string block = text.substr(at, kBlock);
    const std::size_t last = at + kBlock >= text.size() ? 1 : 0;
    const std::size_t head = block.size() << 3 | last;
    for (const int shift : {0, 8, 16}) frame.push_back(static_cast<char>(head >> shift & 0xFF));
    frame += block;
  }
  return frame;
}

struct StopWorld : World {
  StopWorld() {
    options.sources.state_dir = home.path();
    options.discover = [this] { return discover_sources(options.sources, clock); };
    clock.set(TimeMs{kMs + 30 * kDayMs});
    reopen();
    // The damaged one is the newest, so that it comes first.
    older = talk(1, kMs);
    newer = talk(2, kMs + kDayMs);
    files.write(older);
  }
  std::string archive() const { return files.folder() + "/" + newer.session_id + kArchive; }
  std::string whole() const { return two_frames(transcript_text(newer, Era::kFiles3)); }
  std::int64_t messages() { return count("message.observed"); }
  std::int64_t all_of(const Conversation& one) const {
    return static_cast<std::int64_t>(message_ids(one).size());
  }
  std::string stopped() {
    return text(
        "SELECT coalesce(group_concat(file || ' ' || reason), '') FROM skipped_lines"
        " WHERE line = -1");
  }
  std::string state() { return text("SELECT state || ' ' || message FROM source_states"); }

  support::TempDir home;
  TranscriptWriter files{home.path(), "main", Era::kFiles3};
  Conversation older, newer;
};

TEST(IngestStops, one_damaged_archive_does_not_hold_up_the_others_is_named_and_read_once_repaired) {
  StopWorld w;
  support::write_text(w.archive(), "garbage");
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.messages(), w.all_of(w.older));
  EXPECT_EQ(w.stopped(), w.archive() + " damaged");
  EXPECT_THAT(w.state(), testing::StartsWith("ok "));
  EXPECT_THAT(w.state(), HasSubstr(w.archive()));
  w.reopen();
  w.drain();
  EXPECT_EQ(w.stopped(), w.archive() + " damaged") << "also in the next process";

  support::write_text(w.archive(), w.whole());
  w.drain();
  EXPECT_EQ(w.messages(), w.all_of(w.older) + w.all_of(w.newer));
  EXPECT_EQ(w.stopped(), "");
  EXPECT_EQ(w.state(), "ok ");
  w.reopen();
  w.drain();
  EXPECT_EQ(w.messages(), w.all_of(w.older) + w.all_of(w.newer));
}

TEST(IngestStops, of_a_cut_archive_nothing_is_lost_and_the_rest_comes_once) {
  StopWorld w;
  const std::string whole = w.whole();
  support::write_text(w.archive(), whole.substr(0, whole.size() - 40));
  w.drain();
  const std::int64_t before = w.messages() - w.all_of(w.older);
  EXPECT_GE(before, w.all_of(w.newer) / 3);
  EXPECT_LT(before, w.all_of(w.newer));
  EXPECT_EQ(w.stopped(), w.archive() + " cut_short");
  EXPECT_EQ(w.number("SELECT coalesce(sum(skipped), 0) FROM source_positions"), 0);
  support::write_text(w.archive(), whole);
  w.drain();
  EXPECT_EQ(w.messages(), w.all_of(w.older) + w.all_of(w.newer));
  EXPECT_EQ(w.count("message.sighted"), 0) << "what was read is not read again";
  EXPECT_EQ(w.stopped(), "");
}

TEST(IngestStops, an_archive_with_a_false_checksum_says_nothing_that_nobody_said) {
  StopWorld w;
  const std::string text = transcript_text(w.newer, Era::kFiles3);
  support::write_text(w.archive(), raw_frame(text) + "\1\2\3\4");
  w.drain();
  EXPECT_EQ(w.messages(), w.all_of(w.older));
  EXPECT_EQ(w.stopped(), w.archive() + " damaged");
}

TEST(IngestStops, a_damaged_archive_in_the_database_does_not_hold_up_its_sessions) {
  StopWorld w;
  AgentDbWriter db(w.home.path(), "main");
  const Conversation gone = talk(3, kMs + 2 * kDayMs), live = talk(4, kMs + 3 * kDayMs);
  db.write(gone);
  db.write(live);
  std::filesystem::remove(db.remove(gone.session_id, kMs + 4 * kDayMs));
  db.db().exec("UPDATE session_transcript_archives SET archive_blob = x'00112233'");
  EXPECT_TRUE(w.drain().done);
  EXPECT_EQ(w.messages(), w.all_of(w.older) + w.all_of(live));
  EXPECT_THAT(w.stopped(), HasSubstr("archive:" + gone.session_id));
  EXPECT_EQ(w.text("SELECT state FROM source_states WHERE carrier = 'agent-db'"), "ok");
  EXPECT_EQ(w.count("session.deleted"), 1);
}

TEST(IngestStops, a_session_deleted_at_the_host_is_forgotten_though_its_archive_is_damaged) {
  StopWorld w;
  w.files.write(w.newer);
  w.drain();
  const auto recallable = "SELECT count(*) FROM messages WHERE recallable = 1";
  const std::int64_t both = w.number(recallable);
  const std::string left = w.files.remove(w.newer.session_id, kMs + 5 * kDayMs);
  support::write_text(left + ".zst", "garbage");
  std::filesystem::remove(left);
  w.drain();
  EXPECT_EQ(w.count("session.deleted"), 1);
  EXPECT_LT(w.number(recallable), both);
  EXPECT_EQ(w.number("SELECT count(*) FROM messages WHERE recallable = 1 AND session_id = '" +
                     w.newer.session_id + "'"),
            0);
}

// A carrier that changes all the time, with one stream that cannot be read.
struct Stopping final : MessageSource {
  explicit Stopping(int& count) : reads(count) {}
  std::string_view carrier() const override { return "transcripts"; }
  std::string path() const override { return "/fake"; }
  SourceHealth validate() override { return {}; }
  Result<std::vector<StreamInfo>> streams() override {
    StreamInfo info = stream("s1", {}).info;
    info.tip = "as ever";
    return std::vector<StreamInfo>{info};
  }
  Result<StreamBatch> read(const StreamInfo&, const StreamPosition& after, std::size_t) override {
    ++reads;
    StreamBatch batch;
    batch.next = after;
    batch.stopped = SkippedLine{kRestOfStream, "damaged", "/fake/s1.zst", 0};
    return batch;
  }
  std::vector<std::optional<std::string>> bodies(std::span<const Wanted> wanted) override {
    return std::vector<std::optional<std::string>>(wanted.size());
  }
  std::string change_token() override { return {}; }
  int& reads;
};

TEST(IngestStops, a_damaged_archive_is_not_read_again_and_again) {
  World w;
  int reads = 0;
  w.options.discover = [&reads] {
    std::vector<OpenSource> out(1);
    out[0].source = std::make_unique<Stopping>(reads);
    out[0].agent = "main";
    return out;
  };
  w.reopen();
  w.drain();
  const int first = reads;
  EXPECT_LE(first, 2);
  for (int i = 0; i < 5; ++i) {
    w.clock.advance(kMinuteMs);
    w.drain();
  }
  EXPECT_EQ(reads, first);
  w.clock.advance(kRetryStopMs);
  w.drain();
  EXPECT_EQ(reads, first + 1) << "it may have been repaired without looking changed";
  EXPECT_EQ(w.number("SELECT count(*) FROM skipped_lines WHERE line = -1"), 1);
}

}  // namespace
}  // namespace clawmark
