#include "projections/tokenizer.h"

#include <gmock/gmock.h>

#include "projections/porter.h"
#include "projections/search.h"

namespace clawmark {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> document(std::string_view text) {
  std::vector<std::string> out;
  tokenize(text, TokenizeFor::kDocument, [&](Token&& token) {
    out.push_back((token.same_place ? "=" : "") + token.text);
    return true;
  });
  return out;
}

TEST(Tokenizer, words_are_folded_and_stemmed) {
  EXPECT_THAT(document("The Runners were RUNNING, quickly."),
              ElementsAre("the", "runner", "were", "run", "quickli"));
  EXPECT_THAT(document("Crème BRÛLÉE Straße Łódź"),
              ElementsAre("creme", "brule", "strass", "lodz"));
  EXPECT_THAT(document("cafe\xCC\x81"), document("caf\xC3\xA9"));
  EXPECT_THAT(document("Ｆｕｌｌ ﬁn"), ElementsAre("full", "fin"));
}

TEST(Tokenizer, identifiers_stand_whole_and_split) {
  EXPECT_THAT(document("ZX-4471"), ElementsAre("zx-4471", "=zx", "4471"));
  EXPECT_THAT(document("gen-itgc,"), ElementsAre("gen-itgc", "=gen", "itgc"));
  EXPECT_THAT(document("38.101."), ElementsAre("38.101", "=38", "101"));
  EXPECT_THAT(document("C++ and C#"), ElementsAre("c++", "=c", "and", "c#", "=c"));
  EXPECT_THAT(document("(5 GB/s)"), ElementsAre("5", "gb/s", "=gb", "s"));
  EXPECT_THAT(document("a_b"), ElementsAre("a_b", "=a", "b"));
  EXPECT_THAT(document("don't user's it’s"), ElementsAre("dont", "user", "it"));
  EXPECT_THAT(document("parseEntry"), ElementsAre("parseentri", "=pars", "=entri"));
}

TEST(Tokenizer, C130_cjk_is_cut_into_bigrams_and_single_characters) {
  EXPECT_THAT(document("供应商"), ElementsAre("供", "=供应", "应", "=应商", "商"));
  EXPECT_THAT(search_tokens("供应商"), ElementsAre("供应", "应商"));
  EXPECT_THAT(search_tokens("商"), ElementsAre("商"));
  EXPECT_THAT(search_tokens("배포 일정"), ElementsAre("배포", "일정"));
  EXPECT_THAT(document("コーヒー"), Contains("=ーヒ"));
  EXPECT_THAT(document("v2版本"), ElementsAre("v2", "版", "=版本", "本"));
  // Decomposed Hangul is the same text.
  EXPECT_THAT(document("\xE1\x84\x87\xE1\x85\xA2"), ElementsAre("배"));
}

TEST(Tokenizer, thai_and_arabic) {
  EXPECT_THAT(document("ภาษาไทยง่าย"), ElementsAre("ภาษา", "ไทย", "ง่าย"));
  EXPECT_THAT(document("مَدْرَسَة"), document("مدرسه"));
  EXPECT_THAT(document("أحمد"), ElementsAre("احمد"));
}

TEST(Tokenizer, odd_input_is_harmless) {
  EXPECT_THAT(document(""), IsEmpty());
  EXPECT_THAT(document("*** |  \" -- '"), IsEmpty());
  EXPECT_THAT(document(std::string_view("a\0b\xFF\xC3", 5)), ElementsAre("a", "b"));
  EXPECT_THAT(document("🦀🎉"), ElementsAre("🦀", "🎉"));
  EXPECT_EQ(document(std::string(10'000, 'x')).front().size(), 64u);
}

TEST(Tokenizer, a_query_is_the_same_words_as_the_document) {
  for (const char* text : {"GB/s", "ZX-4471", "C++", "Ｆｕｌｌ", "running", "naïve"}) {
    const auto tokens = document(text);
    for (const auto& token : search_tokens(text)) {
      EXPECT_TRUE(std::count(tokens.begin(), tokens.end(), token) +
                  std::count(tokens.begin(), tokens.end(), "=" + token))
          << text << " " << token;
    }
  }
}

TEST(Porter, follows_the_published_examples) {
  const std::pair<const char*, const char*> pairs[] = {{"caresses", "caress"},
                                                       {"ponies", "poni"},
                                                       {"cats", "cat"},
                                                       {"agreed", "agre"},
                                                       {"plastered", "plaster"},
                                                       {"bled", "bled"},
                                                       {"motoring", "motor"},
                                                       {"sing", "sing"},
                                                       {"conflated", "conflat"},
                                                       {"troubled", "troubl"},
                                                       {"sized", "size"},
                                                       {"hopping", "hop"},
                                                       {"falling", "fall"},
                                                       {"hissing", "hiss"},
                                                       {"filing", "file"},
                                                       {"happy", "happi"},
                                                       {"sky", "sky"},
                                                       {"relational", "relat"},
                                                       {"conditional", "condit"},
                                                       {"rational", "ration"},
                                                       {"digitizer", "digit"},
                                                       {"operator", "oper"},
                                                       {"feudalism", "feudal"},
                                                       {"hopefulness", "hope"},
                                                       {"formaliti", "formal"},
                                                       {"triplicate", "triplic"},
                                                       {"electrical", "electr"},
                                                       {"goodness", "good"},
                                                       {"revival", "reviv"},
                                                       {"adjustable", "adjust"},
                                                       {"replacement", "replac"},
                                                       {"adoption", "adopt"},
                                                       {"activate", "activ"},
                                                       {"effective", "effect"},
                                                       {"probate", "probat"},
                                                       {"rate", "rate"},
                                                       {"cease", "ceas"},
                                                       {"controll", "control"},
                                                       {"roll", "roll"},
                                                       {"generalizations", "gener"}};
  for (const auto& [word, stem] : pairs) {
    std::string text = word;
    porter_stem(text);
    EXPECT_EQ(text, stem) << word;
  }
}

TEST(StopWords, plain_and_stemmed_forms) {
  for (const char* word : {"the", "does", "doe", "was", "this", "thi", "dont", "what"}) {
    EXPECT_TRUE(is_stop_word(word)) << word;
  }
  for (const char* word : {"database", "plan", "c++", "评审"}) EXPECT_FALSE(is_stop_word(word));
}

}  // namespace
}  // namespace clawmark
