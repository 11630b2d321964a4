// Method: the bundled sample, read by the real sources, understood by the built-in rules, restored
// at a fixed time; again after a rebuild, and with the carriers and streams read in reverse. Its
// lines stand in tests/cmd/restore.txt; CLAWMARK_GOLDEN=1 writes them anew, to be read like code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "cmd/clawmark-sample/sample.h"
#include "log/store.h"
#include "projections/rebuild.h"
#include "serve/admin.h"
#include "serve/serving.h"
#include "test_paths.h"
#include "tests/support/store_builder.h"
#include "workers/pipeline.h"

namespace clawmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr TimeMs kNow{1'795'262'400'000};  // 2026-11-21T12:00:00Z, after the last session

// Sources in reverse, or streams in reverse within each.
class Reversed final : public MessageSource {
 public:
  explicit Reversed(std::unique_ptr<MessageSource> inner) : inner_(std::move(inner)) {}
  std::string_view carrier() const override { return inner_->carrier(); }
  std::string path() const override { return inner_->path(); }
  SourceHealth validate() override { return inner_->validate(); }
  Result<std::vector<StreamInfo>> streams() override {
    auto streams = inner_->streams();
    if (streams.ok()) std::reverse(streams->begin(), streams->end());
    return streams;
  }
  Result<StreamBatch> read(const StreamInfo& stream, const StreamPosition& after,
                           std::size_t items_max) override {
    return inner_->read(stream, after, items_max);
  }
  std::vector<std::optional<std::string>> bodies(std::span<const Wanted> wanted) override {
    return inner_->bodies(wanted);
  }
  std::string change_token() override { return inner_->change_token(); }

 private:
  std::unique_ptr<MessageSource> inner_;
};

class Sampled {
 public:
  explicit Sampled(bool reversed = false) {
    SampleOptions options;
    options.story_dir = std::string(CLAWMARK_SOURCE_DIR) + "/deploy/sample";
    options.state_dir = dir_ / "state";
    EXPECT_TRUE(write_sample(options).ok());
    StoreOptions where;
    where.path = dir_ / "clawmark.db";
    store_ = std::make_unique<Store>(Store::open(where, clock_).value());
    PipelineOptions pipeline;
    pipeline.sources.state_dir = options.state_dir;
    pipeline.order_as_found = reversed;
    if (reversed) {
      pipeline.discover = [this, sources = pipeline.sources] {
        auto found = discover_sources(sources, clock_);
        std::reverse(found.begin(), found.end());
        for (auto& open : found) open.source = std::make_unique<Reversed>(std::move(open.source));
        return found;
      };
    }
    PipelineModels models;
    models.extractor = make_builtin_extractor();
    models.graph = make_builtin_graph_extractor();
    pipeline_ = Pipeline::make(*store_, clock_, std::move(models), std::move(pipeline)).value();
    EXPECT_TRUE(pipeline_->run_until_idle().ok());
  }

  std::string restore(json::object params = {}) {
    ServingParts parts;
    auto config = std::make_shared<Config>();
    config->timezone = "UTC";
    parts.config = config;
    parts.clock = &clock_;
    parts.open_reader = [this] { return Store::open_read_only(store_->path()); };
    parts.bodies = &pipeline_->bodies();
    Serving serving(std::move(parts));
    auto lease = serving.readers.lease();
    EXPECT_TRUE(lease.ok());
    const auto answer = run_admin(serving, **lease, "restore", params);
    if (!answer.ok()) return describe(answer.error());
    return get_string(*answer, "text") + "\n";
  }
  void rebuild_graph() {
    for (Projection* projection : pipeline_->projections()) {
      EXPECT_TRUE(rebuild(store_->db(), *projection, clock_.now(), {}).ok());
    }
  }
  std::string digest() {
    for (Projection* projection : pipeline_->projections()) {
      if (projection->name() != "graph") continue;
      return to_hex(live_digest(store_->db(), *projection)->digest);
    }
    return "";
  }

 private:
  support::TempDir dir_;
  ManualClock clock_{kNow};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Pipeline> pipeline_;
};

TEST(Restore, the_sample_says_what_is_in_force_and_is_the_same_after_a_rebuild) {
  Sampled sample;
  const std::string text = sample.restore();
  EXPECT_THAT(text, HasSubstr("use Mollie instead of Stripe, because: the fees are lower"));
  EXPECT_THAT(text, HasSubstr("Replaced since:\n- payment provider: Stripe (until 2026-11-09"));
  EXPECT_THAT(text, HasSubstr("E-SEAT-409 is solved"));
  EXPECT_THAT(text, Not(HasSubstr("Tasks that are blocked")));
  EXPECT_THAT(text, HasSubstr("seats F1 and F2 are closed until the carpenter has been"));
  EXPECT_THAT(text, Not(HasSubstr("Saturday"))) << "taken back by a rewind";
  const std::string digest = sample.digest();
  sample.rebuild_graph();
  EXPECT_EQ(sample.restore(), text);
  EXPECT_EQ(sample.digest(), digest);
}

TEST(Restore, the_sample_is_restored_line_by_line_as_it_was_told) {
  Sampled sample;
  const std::string text = sample.restore();
  const std::string golden = std::string(CLAWMARK_SOURCE_DIR) + "/tests/cmd/restore.txt";
  if (std::getenv("CLAWMARK_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file_atomic(golden, text).ok());
  }
  std::ifstream file(golden, std::ios::binary);
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, expected);
}

TEST(Restore, the_readme_shows_lines_of_it_in_their_order) {
  const std::string root = std::string(CLAWMARK_SOURCE_DIR);
  const auto read = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  };
  const std::string golden = read(root + "/tests/cmd/restore.txt");
  const std::string readme = read(root + "/README.md");
  std::size_t at = readme.find("Where things were left off:");
  ASSERT_NE(at, std::string::npos);
  std::size_t from = 0;
  int lines = 0;
  for (;; ++lines) {
    const auto end = readme.find('\n', at);
    std::string line = readme.substr(at, end - at);
    at = end + 1;
    if (line == "```") break;
    const bool cut = line.ends_with("…");
    if (cut) line.resize(line.rfind(' '));
    const auto found = golden.find("\n" + line + (cut ? "" : "\n"), from == 0 ? 0 : from - 1);
    ASSERT_NE(found, std::string::npos) << line;
    if (!line.empty()) from = found + 1 + line.size();
  }
  EXPECT_GT(lines, 15);
}

TEST(Restore, another_order_of_reading_gives_the_same_lines) {
  Sampled sample, reversed(true);
  EXPECT_EQ(reversed.restore(), sample.restore());
  EXPECT_EQ(reversed.digest(), sample.digest());
}

TEST(Restore, through_one_persons_eyes_nothing_of_another_shows) {
  Sampled sample;
  const std::string mira = sample.restore({{"as", "telegram:101"}});
  EXPECT_EQ(mira.find("Marienhof"), std::string::npos);
  EXPECT_EQ(mira.find("surgery"), std::string::npos);
  const std::string group = sample.restore({{"as", "group:agent:main:telegram:group:-1007001"}});
  EXPECT_EQ(group.find("surgery"), std::string::npos);
  EXPECT_NE(group.find("Mollie"), std::string::npos);
}

}  // namespace
}  // namespace clawmark
