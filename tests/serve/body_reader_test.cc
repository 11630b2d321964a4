// Texts from a source that takes its time, for many who ask at once.

#include "serve/body_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "world.h"

namespace clawmark {
namespace {

// Answers with what was said; the first question waits at a gate.
class SlowSource final : public BodyResolver {
 public:
  std::vector<std::optional<std::string>> resolve(std::span<const BodyRequest> wanted) override {
    if (asked++ == 0) {
      entered.set_value();
      gate.get_future().wait();
    }
    largest = std::max(largest.load(), wanted.size());
    std::vector<std::optional<std::string>> out;
    for (const BodyRequest& request : wanted) out.emplace_back(texts.at(request.message.value));
    return out;
  }

  std::map<std::int64_t, std::string> texts;
  std::promise<void> entered, gate;
  std::atomic<int> asked{0};
  std::atomic<std::size_t> largest{0};
};

// So many who ask for so many texts each: the first holds the source at its gate until all others
// wait.
struct Crowd {
  explicit Crowd(std::size_t askers, int each) : wanted(askers) {
    for (auto& one : wanted) {
      for (int i = 0; i < each; ++i) {
        const std::string text = "text " + std::to_string(source.texts.size());
        one.push_back(world.say({.text = text}));
        source.texts[one.back().value] = text;
      }
    }
  }

  std::vector<BodyAnswer> ask() {
    std::vector<std::future<BodyAnswer>> answers;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      answers.push_back(std::async(std::launch::async, [&, i] {
        auto db = must(Store::open_read_only(world.store.path()));
        return reader.get(db, wanted[i], 60'000);
      }));
      if (i == 0) source.entered.get_future().wait();
    }
    while (reader.waiting() + 1 < wanted.size()) std::this_thread::yield();
    source.gate.set_value();
    std::vector<BodyAnswer> out;
    for (auto& answer : answers) out.push_back(answer.get());
    return out;
  }

  World world{Retention::kReference};
  SlowSource source;
  std::vector<std::vector<Seq>> wanted;
  BodyStore bodies{Retention::kReference, &source};
  BodyReader reader{bodies};
};

TEST(BodyReader, who_comes_while_a_source_answers_is_served_together_each_with_their_own) {
  Crowd crowd(9, 4);
  const auto answers = crowd.ask();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i].in_time);
    ASSERT_EQ(answers[i].bodies.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(answers[i].bodies[k].text, crowd.source.texts.at(crowd.wanted[i][k].value));
    }
  }
  EXPECT_EQ(crowd.source.asked, 2);  // the one at the gate, and all others
  EXPECT_EQ(crowd.source.largest, 32U);
}

TEST(BodyReader, more_than_go_together_are_asked_for_in_turn) {
  Crowd crowd(4, 40);
  for (const BodyAnswer& answer : crowd.ask()) EXPECT_TRUE(answer.in_time);
  EXPECT_EQ(crowd.source.asked, 4);
  EXPECT_EQ(crowd.source.largest, 40U);
}

}  // namespace
}  // namespace clawmark
