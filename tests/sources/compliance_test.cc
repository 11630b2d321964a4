// What every adapter must do, whatever the carrier: each message once for any batch size,
// resumption from any saved position, growth while reading, rewriting, shrinking, damage,
// emptiness, Unicode, bodies, and no trace left.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "sources/agent_db_source.h"
#include "sources/lcm_source.h"
#include "sources/transcript_source.h"
#include "tests/sources/reading.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::Conversation;
using support::Era;
using support::TempDir;
using test::drain;
using test::Drained;

const SystemClock kClock;

struct AgentDbWorld {
  static constexpr Era kEra = Era::kDatabase4;
  TempDir dir;
  std::optional<support::AgentDbWriter> writer{std::in_place, dir.path(), "main"};
  std::string path() const { return dir / "agents/main/agent/openclaw-agent.sqlite"; }
  void write(const Conversation& c) { writer->write(c); }
  void append(const Conversation& c, std::size_t first) { writer->append(c, first); }
  // All rows anew, as the host's full replacement does.
  void rewrite(const Conversation&, const Conversation& now) {
    writer->replace_suffix(now, 1, 0, now.start_ms);
  }
  void close() { writer.reset(); }
  std::unique_ptr<MessageSource> source() {
    return std::make_unique<AgentDbSource>(path(), "main", std::vector<std::string>{}, kClock);
  }
};

struct TranscriptWorld {
  static constexpr Era kEra = Era::kFiles3;
  TempDir dir;
  std::optional<support::TranscriptWriter> writer{std::in_place, dir.path(), "main"};
  std::string path() const { return dir / "agents/main/sessions"; }
  void write(const Conversation& c) { writer->write(c); }
  void append(const Conversation& c, std::size_t first) { writer->append(c, first); }
  void rewrite(const Conversation&, const Conversation& now) { writer->rewrite(now); }
  void close() { writer.reset(); }
  std::unique_ptr<MessageSource> source() {
    return std::make_unique<TranscriptSource>(std::vector<std::string>{path()}, "main",
                                              std::vector<std::string>{});
  }
};

struct LcmWorld {
  static constexpr Era kEra = Era::kDatabase4;
  TempDir dir;
  std::optional<support::LcmWriter> writer{std::in_place, dir / "lcm.db"};
  std::string path() const { return dir / "lcm.db"; }
  void write(const Conversation& c) { writer->write(c); }
  void append(const Conversation& c, std::size_t first) { writer->append(c, first); }
  // A restore: an older database with other rows under the same ids.
  void rewrite(const Conversation&, const Conversation& now) {
    writer.reset();
    std::filesystem::remove(path());
    writer.emplace(path());
    writer->write(now);
  }
  void close() { writer.reset(); }
  std::unique_ptr<MessageSource> source() {
    return std::make_unique<LcmSource>(path(), dir / "lcm-files", std::vector<std::string>{},
                                       kClock);
  }
};

template <class World>
class Compliance : public testing::Test {
 protected:
  World world_;

  Conversation make(std::size_t messages, std::uint64_t seed = 3) {
    return support::make_conversation({.seed = seed,
                                       .messages = messages,
                                       .era = World::kEra,
                                       .session_key = "agent:main:telegram:direct:7",
                                       .channel = "telegram",
                                       .senders = {{.id = "7", .name = "Ada Lovelace"}}});
  }
  Drained read_all(const Conversation& c, StreamPosition from = {}, std::size_t items = 100) {
    auto source = world_.source();
    return drain(*source, test::stream_of(*source, c.session_id), std::move(from), items);
  }
};

using Worlds = testing::Types<AgentDbWorld, TranscriptWorld, LcmWorld>;
class WorldName {
 public:
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, AgentDbWorld> ? "AgentDb"
           : std::is_same_v<T, LcmWorld>   ? "Lcm"
                                           : "Transcripts";
  }
};
TYPED_TEST_SUITE(Compliance, Worlds, WorldName);

void expect_messages(const Drained& drained, const Conversation& c) {
  EXPECT_EQ(drained.message_ids(), support::message_ids(c));
  std::size_t at = 0;
  for (const auto& item : c.items) {
    if (!support::is_message(item)) continue;
    while (at < drained.entries.size() && drained.entries[at].kind != EntryKind::kMessage) ++at;
    ASSERT_LT(at, drained.entries.size());
    const auto& entry = drained.entries[at++];
    EXPECT_EQ(to_hex(entry.hash), to_hex(sha256(support::text_of(item)))) << item.id;
    EXPECT_EQ(entry.bytes, static_cast<std::int64_t>(support::text_of(item).size()));
    EXPECT_EQ(entry.time.value / 1000, item.entry_ms / 1000);
    EXPECT_EQ(entry.session_id, c.session_id);
    EXPECT_EQ(entry.session_key, c.session_key);
    if (item.role == "user") {
      EXPECT_EQ(entry.sender_id, item.sender.id);
      EXPECT_EQ(entry.channel, "telegram");
    }
  }
}

TYPED_TEST(Compliance, gives_each_message_once_for_any_batch_size) {
  const auto c = this->make(23);
  this->world_.write(c);
  for (const std::size_t items : {1, 2, 3, 5, 7, 11, 22, 23, 24, 25, 1000}) {
    SCOPED_TRACE(items);
    expect_messages(this->read_all(c, {}, items), c);
  }
}

TYPED_TEST(Compliance, resumes_from_any_saved_position) {
  const auto c = this->make(13);
  this->world_.write(c);
  auto source = this->world_.source();
  const auto stream = test::stream_of(*source, c.session_id);
  std::vector<std::string> before;
  StreamPosition position;
  for (;;) {
    auto rest = this->read_all(c, position).message_ids();
    auto all = before;
    all.insert(all.end(), rest.begin(), rest.end());
    EXPECT_EQ(all, support::message_ids(c));
    auto batch = source->read(stream, position, 1);
    ASSERT_TRUE(batch.ok()) << describe(batch.error());
    for (const auto& e : batch->entries) {
      if (e.kind == EntryKind::kMessage) before.push_back(e.entry_id);
    }
    position = batch->next;
    EXPECT_FALSE(batch->epoch);
    if (batch->at_end) break;
  }
  EXPECT_EQ(before, support::message_ids(c));
}

TYPED_TEST(Compliance, gives_nothing_new_when_nothing_was_said) {
  const auto c = this->make(9);
  this->world_.write(c);
  const auto first = this->read_all(c);
  const auto again = this->read_all(c, first.position);
  EXPECT_TRUE(again.entries.empty());
  EXPECT_TRUE(again.epochs.empty());
  EXPECT_EQ(again.position.position, first.position.position);
}

TYPED_TEST(Compliance, gives_what_is_appended_while_it_is_read) {
  auto c = this->make(10);
  this->world_.write(c);
  auto source = this->world_.source();
  const auto stream = test::stream_of(*source, c.session_id);
  std::vector<std::string> seen;
  StreamPosition position;
  for (int round = 0; round < 6; ++round) {
    auto batch = source->read(stream, position, 3);
    ASSERT_TRUE(batch.ok());
    EXPECT_FALSE(batch->epoch);
    for (const auto& e : batch->entries) {
      if (e.kind == EntryKind::kMessage) seen.push_back(e.entry_id);
    }
    position = batch->next;
    const auto first =
        support::extend(c, 100 + static_cast<std::uint64_t>(round), 2, TypeParam::kEra);
    this->world_.append(c, first);
  }
  for (const auto& id : drain(*source, stream, position, 3).message_ids()) seen.push_back(id);
  EXPECT_EQ(seen, support::message_ids(c));
}

TYPED_TEST(Compliance, a_rewritten_stream_starts_a_new_epoch_and_is_read_again) {
  const auto c = this->make(12);
  this->world_.write(c);
  const auto first = this->read_all(c);
  auto now = this->make(12, 4);
  now.session_id = c.session_id;
  this->world_.rewrite(c, now);
  const auto again = this->read_all(c, first.position, 5);
  ASSERT_EQ(again.epochs.size(), 1u);
  EXPECT_EQ(again.epochs[0].epoch, 1);
  EXPECT_EQ(again.position.epoch, 1);
  expect_messages(again, now);
}

TYPED_TEST(Compliance, a_shrunk_stream_loses_nothing_that_comes_after) {
  const auto c = this->make(12);
  this->world_.write(c);
  const auto first = this->read_all(c);
  auto shorter = c;
  shorter.items.resize(4);
  this->world_.rewrite(c, shorter);
  const auto shrunk = this->read_all(c, first.position);
  EXPECT_EQ(shrunk.epochs.size(), 1u);
  const auto from = support::extend(shorter, 77, 3, TypeParam::kEra);
  this->world_.append(shorter, from);
  const auto after = this->read_all(c, shrunk.position);
  const auto ids = support::message_ids(shorter);
  EXPECT_EQ(after.message_ids(), std::vector<std::string>(ids.end() - 3, ids.end()));
}

TYPED_TEST(Compliance, texts_of_every_script_come_whole) {
  auto c = this->make(2);
  const std::vector<std::string> texts = {
      std::string("ends with a NUL \0", 17),
      std::string("\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7") +
          " family, \xE2\x80\xAE" + "rtl\xE2\x80\xAC",
      std::string("\xE6\x98\xA8\xE5\xA4\xA9\xE7\x8E\x8B\xE8\x8A\xB3 ") +
          "\xD7\xA2\xD7\x91\xD7\xA8\xD7\x99\xD7\xAA \"quoted\\\" \xE2\x80\xA8 line",
      "tabs\tand\r\nlines\n\n\n", std::string(70'000, 'x') + "\xC3\xA9"};
  std::size_t next = 0;
  for (auto& item : c.items) {
    if (support::is_message(item) && next < texts.size()) item.text = texts[next++];
  }
  while (next < texts.size()) {
    const auto at = support::extend(c, next, 1, TypeParam::kEra);
    c.items[at].text = texts[next++];
  }
  this->world_.write(c);
  const auto drained = this->read_all(c, {}, 1);
  expect_messages(drained, c);
  EXPECT_EQ(drained.skipped_total, 0);
}

TYPED_TEST(Compliance, bodies_come_back_with_their_hash) {
  const auto c = this->make(30);
  this->world_.write(c);
  auto source = this->world_.source();
  const auto stream = test::stream_of(*source, c.session_id);
  const auto drained = drain(*source, stream);
  test::expect_bodies_round_trip(*this->world_.source(), stream.key, drained.entries);
  const MessageSource::Wanted missing{stream.key, "999999999", "no such entry"};
  EXPECT_FALSE(source->bodies({{missing}})[0].has_value());
  const MessageSource::Wanted elsewhere{"no such stream", "1", ""};
  const auto got = source->bodies({{elsewhere}});
  EXPECT_EQ(got.size(), 1u);
}

TYPED_TEST(Compliance, leaves_a_closed_store_as_it_was) {
  const auto c = this->make(30);
  this->world_.write(c);
  this->world_.close();
  const auto before = support::tree_digest(this->world_.dir.path());
  auto source = this->world_.source();
  EXPECT_EQ(source->validate().state, SourceState::kOk);
  const auto stream = test::stream_of(*source, c.session_id);
  const auto drained = drain(*source, stream, {}, 4);
  test::expect_bodies_round_trip(*source, stream.key, drained.entries);
  (void)source->change_token();
  EXPECT_EQ(support::tree_digest(this->world_.dir.path()), before);
}

TYPED_TEST(Compliance, leaves_a_live_store_as_it_was_but_for_the_shared_memory_of_sqlite) {
  const auto c = this->make(30);
  this->world_.write(c);
  const auto files = support::list_files(this->world_.dir.path());
  std::map<std::string, std::string> before;
  for (const auto& file : files) before[file] = support::read_text(this->world_.dir / file);
  auto source = this->world_.source();
  EXPECT_EQ(source->validate().state, SourceState::kOk);
  (void)drain(*source, test::stream_of(*source, c.session_id), {}, 4);
  EXPECT_EQ(support::list_files(this->world_.dir.path()), files);
  for (const auto& file : files) {
    if (file.ends_with("-shm")) continue;
    EXPECT_EQ(support::read_text(this->world_.dir / file), before[file]) << file;
  }
}

TYPED_TEST(Compliance, a_store_that_is_gone_is_absent_and_says_nothing_of_deletion) {
  const auto c = this->make(5);
  this->world_.write(c);
  auto source = this->world_.source();
  const auto stream = test::stream_of(*source, c.session_id);
  const auto drained = drain(*source, stream);
  this->world_.close();
  std::filesystem::rename(this->world_.path(), this->world_.path() + ".away");
  EXPECT_EQ(source->validate().state, SourceState::kAbsent);
  const auto streams = source->streams();
  if (streams.ok()) {
    EXPECT_TRUE(streams->empty());
  } else {
    EXPECT_EQ(streams.error().kind, ErrorKind::kRetriable);
  }
  const auto read = source->read(stream, drained.position, 10);
  if (read.ok()) {
    EXPECT_TRUE(read->entries.empty());
    EXPECT_FALSE(read->epoch);
    EXPECT_EQ(read->next.position, drained.position.position);
  }
  std::filesystem::rename(this->world_.path() + ".away", this->world_.path());
  EXPECT_TRUE(drain(*source, stream, drained.position).entries.empty());
}

TYPED_TEST(Compliance, tip_changes_with_each_new_message_and_only_then) {
  auto c = this->make(5);
  this->world_.write(c);
  const auto tip = [&] {
    auto source = this->world_.source();
    return test::stream_of(*source, c.session_id).tip;
  };
  const auto before = tip();
  EXPECT_FALSE(before.empty());
  EXPECT_EQ(tip(), before);
  const auto from = support::extend(c, 5, 1, TypeParam::kEra);
  this->world_.append(c, from);
  EXPECT_NE(tip(), before);
}

TYPED_TEST(Compliance, ignored_and_incognito_sessions_are_not_listed) {
  auto ignored = this->make(3, 21);
  ignored.session_key = "agent:main:cron:nightly:run:1";
  auto incognito = this->make(3, 22);
  incognito.session_key = "agent:main:dashboard:incognito-4f";
  auto open = this->make(3, 23);
  for (const auto& c : {ignored, incognito, open}) this->world_.write(c);
  std::unique_ptr<MessageSource> source;
  const std::vector<std::string> globs = {"agent:*:cron:*"};
  if constexpr (std::is_same_v<TypeParam, AgentDbWorld>) {
    source = std::make_unique<AgentDbSource>(this->world_.path(), "main", globs, kClock);
  } else if constexpr (std::is_same_v<TypeParam, LcmWorld>) {
    source = std::make_unique<LcmSource>(this->world_.path(), "", globs, kClock);
  } else {
    source = std::make_unique<TranscriptSource>(std::vector<std::string>{this->world_.path()},
                                                "main", globs);
  }
  const auto streams = source->streams();
  ASSERT_TRUE(streams.ok());
  ASSERT_EQ(streams->size(), 1u);
  EXPECT_EQ(streams->front().session_id, open.session_id);
}

}  // namespace
}  // namespace clawmark
