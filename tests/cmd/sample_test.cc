#include "cmd/clawmark-sample/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_paths.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using support::TempDir;

SampleOptions options_for(const std::string& state_dir) {
  SampleOptions options;
  options.story_dir = std::string(CLAWMARK_SOURCE_DIR) + "/deploy/sample";
  options.state_dir = state_dir;
  return options;
}

TEST(Sample, tells_twelve_sessions_over_every_kind_of_carrier) {
  TempDir dir;
  const auto counts = write_sample(options_for(dir / "state"));
  ASSERT_TRUE(counts.ok()) << describe(counts.error());
  EXPECT_EQ(counts->sessions, 12u);
  EXPECT_GT(counts->messages, 90u);
  const auto files = support::list_files(dir / "state");
  EXPECT_EQ(
      std::count_if(files.begin(), files.end(),
                    [](const auto& f) { return f.find(".jsonl.reset.") != std::string::npos; }),
      2);
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [](const auto& f) { return f.ends_with(".jsonl"); }),
            2);
  support::HostDb db(dir / "state/agents/main/agent/openclaw-agent.sqlite");
  EXPECT_EQ(db.integer("SELECT count(*) FROM session_windows"),
            9);  // eight sessions, one of them rewound
  EXPECT_EQ(
      db.integer("SELECT count(*) FROM transcript_event_identities WHERE event_type = 'leaf'"), 1);
  EXPECT_EQ(
      db.integer("SELECT count(*) FROM transcript_event_identities WHERE event_type = 'reset'"), 1);
  EXPECT_GT(db.integer("SELECT count(*) FROM transcript_events WHERE event_zstd IS NOT NULL"), 0);
}

TEST(Sample, is_the_same_every_time_and_moves_with_its_start) {
  TempDir dir;
  ASSERT_TRUE(write_sample(options_for(dir / "a")).ok());
  ASSERT_TRUE(write_sample(options_for(dir / "b")).ok());
  auto later = options_for(dir / "c");
  later.day = 3;
  ASSERT_TRUE(write_sample(later).ok());
  const auto texts = [&](const char* name) {
    support::HostDb db(dir / (std::string(name) + "/agents/main/agent/openclaw-agent.sqlite"));
    std::string out;
    for (const auto& row :
         db.rows("SELECT session_id, seq, event_json, event_zstd FROM transcript_events "
                 "ORDER BY session_id, seq")) {
      for (const auto& value : row) {
        if (const auto* text = std::get_if<std::string>(&value)) out += *text + "\n";
        if (const auto* blob = std::get_if<support::Blob>(&value)) out += blob->bytes;
      }
    }
    return out;
  };
  EXPECT_EQ(texts("a"), texts("b"));
  EXPECT_NE(texts("a"), texts("c"));
  EXPECT_THAT(texts("a"), testing::HasSubstr("opens on 20 November at 18:00"));
  EXPECT_THAT(texts("c"), testing::HasSubstr("opens on 21 November at 18:00"));
}

TEST(Sample, refuses_a_folder_that_holds_a_state_already) {
  TempDir dir;
  ASSERT_TRUE(write_sample(options_for(dir / "state")).ok());
  const std::string before = support::tree_digest(dir / "state");
  const auto again = write_sample(options_for(dir / "state"));
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, testing::HasSubstr("agents/"));
  EXPECT_EQ(support::tree_digest(dir / "state"), before);
}

TEST(Sample, a_mistake_in_the_story_names_file_and_line) {
  TempDir dir;
  support::copy_tree(options_for("").story_dir, dir / "story");
  support::append_text(dir / "story/sessions/02-jonas-hello.jsonl",
                       "{\"at\":\"noon\",\"jonas\":\"x\"}\n");
  auto options = options_for(dir / "state");
  options.story_dir = dir / "story";
  const auto counts = write_sample(options);
  ASSERT_FALSE(counts.ok());
  EXPECT_THAT(counts.error().message, testing::HasSubstr("02-jonas-hello.jsonl line 10"));
}

}  // namespace
}  // namespace clawmark
