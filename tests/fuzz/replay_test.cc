// The fuzzers' targets without a fuzzer: over each file of their corpus, and over seeded mutations
// of it. What a fuzzer found once is kept in the corpus, so that it stays found.
//
//   CLAWMARK_FUZZ_SECONDS=60   mutations for so long on each target (default: 300 of each file)

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "test_paths.h"
#include "tests/fuzz/targets.h"
#include "tests/support/fixtures.h"

namespace clawmark::fuzz {
namespace {

constexpr int kMutations = 300;

// One to four changes: a bit, a byte, a piece of another file, a piece doubled, an end cut off.
std::string mutate(std::string text, const std::vector<std::string>& corpus,
                   std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 2: {
        const std::string& other = corpus[below(corpus.size())];
        const std::size_t from = below(other.size() + 1);
        text.insert(at, other.substr(from, below(64)));
        break;
      }
      case 3:
        text.insert(at, text.substr(at, below(64)));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, 1, "\0\n\"\\{}[]<>:,*'`\xF0\xED"[below(16)]);
    }
  }
  if (text.size() > 65'536) text.resize(65'536);
  return text;
}

void replay(const std::string& name, void (*target)(std::string_view), int mutations = kMutations) {
  const std::string dir = std::string(CLAWMARK_SOURCE_DIR) + "/tests/fuzz/corpus/" + name;
  std::vector<std::string> corpus;
  for (const auto& file : support::list_files(dir)) {
    corpus.push_back(support::read_text(dir + "/" + file));
  }
  ASSERT_GE(corpus.size(), 3u) << dir;
  target("");
  for (const auto& text : corpus) target(text);
  std::mt19937_64 random(20261130);
  const char* seconds = std::getenv("CLAWMARK_FUZZ_SECONDS");
  if (seconds == nullptr) {
    for (const auto& text : corpus) {
      for (int i = 0; i < mutations; ++i) target(mutate(text, corpus, random));
    }
    return;
  }
  const SystemClock clock;
  const std::int64_t end_ms = clock.steady_ms() + 1000 * std::strtoll(seconds, nullptr, 10);
  while (clock.steady_ms() < end_ms) {
    for (const auto& text : corpus) target(mutate(text, corpus, random));
  }
}

TEST(FuzzReplay, entry) {
  replay("entry", fuzz_entry);
}
TEST(FuzzReplay, answer) {
  replay("answer", fuzz_answer);
}
TEST(FuzzReplay, http) {
  replay("http", fuzz_http);
}
TEST(FuzzReplay, guard) {
  replay("guard", fuzz_guard);
}
TEST(FuzzReplay, query) {
  replay("query", fuzz_query);
}
TEST(FuzzReplay, config) {
  replay("config", fuzz_config);
}
TEST(FuzzReplay, event) {
  replay("event", fuzz_event);
}
TEST(FuzzReplay, lcm) {
  replay("lcm", fuzz_lcm, 40);
}

}  // namespace
}  // namespace clawmark::fuzz
