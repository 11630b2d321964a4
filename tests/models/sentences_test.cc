#include "models/rules/sentences.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace clawmark::rules {
namespace {

std::string split(std::string_view text) {
  std::string out;
  for (const auto& sentence : split_sentences(text)) {
    const auto words = trim(text.substr(sentence.begin, sentence.end - sentence.begin));
    if (!words.empty()) out += (out.empty() ? "" : " | ") + std::string(words);
  }
  return out;
}

TEST(Sentences, end_at_their_marks_and_at_lines) {
  EXPECT_EQ(split("We use SQLite. Why? It is small!\nAnd one file"),
            "We use SQLite. | Why? | It is small! | And one file");
  EXPECT_EQ(split("See docs/a.md and v1.2.3 for it."), "See docs/a.md and v1.2.3 for it.");
}

TEST(Sentences, C088_a_designation_stays_with_its_word) {
  for (const char* whole :
       {"Work order WO-2031-117 rev. C goes to Basel.", "Work order 7 rev. A is closed.",
        "Take bolt no. 5 instead.", "Fig. 3b shows the pump.", "It is in vol. II, chap. 4.",
        "Dr. J. Smith signs.", "Use e.g. Redis here.", "Das ist am 3. mai fertig."}) {
    EXPECT_EQ(split(whole), whole);
  }
}

TEST(Sentences, numbers_letters_and_short_words_may_be_their_last) {
  EXPECT_EQ(split("We ship version 4. Then we rest."), "We ship version 4. | Then we rest.");
  EXPECT_EQ(split("We took plan B. It was cheaper."), "We took plan B. | It was cheaper.");
  EXPECT_EQ(split("He said no. Anna agreed."), "He said no. | Anna agreed.");
  EXPECT_EQ(split("Send rev. C. Rev. D waits."), "Send rev. C. | Rev. D waits.");
  EXPECT_EQ(split("We run 12. They run 30."), "We run 12. | They run 30.");
  EXPECT_EQ(split("1. Buy milk\n2. Call Ada"), "1. Buy milk | 2. Call Ada");
}

}  // namespace
}  // namespace clawmark::rules
