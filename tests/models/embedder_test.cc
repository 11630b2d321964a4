#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "models/model.h"
#include "models/static_table.h"
#include "models/text_words.h"
#include "test_paths.h"

namespace clawmark {
namespace {

std::vector<Vector> embed(const std::vector<std::string>& texts) {
  return make_builtin_embedder()->embed_local(texts).value();
}
Vector embed(const std::string& text) {
  return embed(std::vector<std::string>{text})[0];
}

double cosine(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}
double cosine(const std::string& a, const std::string& b) {
  return cosine(embed(a), embed(b));
}

TEST(StaticTable, holds_thirty_thousand_words_by_frequency) {
  EXPECT_EQ(word_count(), 30'000u);
  ASSERT_TRUE(find_word("the").has_value());
  EXPECT_EQ(find_word("the")->rank, 0u);
  EXPECT_GT(find_word("zebra")->rank, find_word("dog")->rank);
  EXPECT_EQ(find_word("dog")->vector.size(), kWordDims);
  EXPECT_FALSE(find_word("xyzzyplugh").has_value());
  EXPECT_FALSE(find_word("").has_value());
}

TEST(StaticTable, is_the_file_that_the_readme_names) {
  const std::string folder = std::string(CLAWMARK_SOURCE_DIR) + "/models/data/";
  const auto table = read_file(folder + "glove30k.bin");
  const auto readme = read_file(folder + "README.md");
  ASSERT_TRUE(table.ok() && readme.ok());
  EXPECT_NE(readme->find(to_hex(sha256(*table))), std::string::npos);
}

TEST(BuiltinEmbedder, every_text_gets_a_vector_of_unit_length) {
  const auto embedder = make_builtin_embedder();
  EXPECT_EQ(embedder->model(), (ModelId{"builtin-static-1", 512}));
  EXPECT_TRUE(embedder->is_local());
  for (const std::string text : {"hello world", "", " ", "!!!", "a", "\xFF\xFE", "4711",
                                 "\xF0\x9F\xA7\xAA", "\xE6\x88\x91\xE5\x96\x9C\xE6\xAC\xA2"}) {
    const Vector vector = embed(text);
    EXPECT_EQ(vector.size(), 512u);
    EXPECT_NEAR(cosine(vector, vector), 1.0, 1e-5) << text;
  }
}

TEST(BuiltinEmbedder, gives_the_same_bits_everywhere) {
  // The hash of the vectors' bytes, little endian: it changes only with the model's name.
  std::string bytes;
  for (const Vector& vector : embed({"We moved the demo to Friday.", "\xE6\x98\x8E\xE6\x97\xA5",
                                     "caf\xC3\xA9 \xF0\x9F\x98\x80 42"})) {
    bytes.append(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
  }
  EXPECT_EQ(to_hex(sha256(bytes)).substr(0, 16), "b833e7e024f5beff");
}

TEST(BuiltinEmbedder, near_in_meaning_is_nearer_than_far) {
  EXPECT_GT(cosine("my dog is ill", "the puppy is sick"),
            cosine("my dog is ill", "the server is down") + 0.1);
  EXPECT_GT(cosine("doctor appointment", "dentist visit"),
            cosine("doctor appointment", "git branch"));
  EXPECT_GT(cosine("deployment failed", "deploy failure"),
            cosine("deployment failed", "birthday cake") + 0.2);
}

TEST(BuiltinEmbedder, other_languages_are_near_through_their_letters) {
  const auto nearer = [](const char* a, const char* near, const char* far) {
    EXPECT_GT(cosine(a, near), cosine(a, far) + 0.15) << a;
  };
  nearer("我喜欢吃辣的食物", "她也喜欢辣的食物", "明天下午开会");
  nearer("明日の会議は東京です", "東京の会議", "猫が好きです");
  nearer("я люблю острую еду", "она любит острую пищу", "завтра встреча в офисе");
  nearer("أحب الطعام الحار", "الطعام الحار لذيذ", "الاجتماع غدا");
  nearer("Ich mag scharfes Essen", "scharfes Essen schmeckt mir", "Besprechung am Freitag");
  nearer("한국어를 공부해요", "한국어 공부", "내일 회의가 있어요");
  nearer("ราชอบกาแฟเย็น", "กาแฟเย็นอร่อย", "พรุ่งนี้ประชุม");
}

TEST(BuiltinEmbedder, typos_and_forms_stay_near) {
  EXPECT_GT(cosine("kubernetes cluster", "kuberentes clusters"), 0.5);
  EXPECT_GT(cosine("CAF\xC3\x89 M\xC3\x9CNCHEN", "caf\xC3\xA9 m\xC3\xBCnchen"), 0.99);
}

TEST(TextWords, splits_by_script_and_keeps_apostrophes) {
  const std::string folded = fold_for_words(
      "Don\xE2\x80\x99t use C3PO, \xE6\x9D\xB1\xE4\xBA\xAC\xE3\x81\xA7 \xF0\x9F\x98\x80!");
  std::vector<std::string> words;
  for (const TextWord& word : split_words(folded)) words.emplace_back(word.text);
  EXPECT_EQ(words,
            (std::vector<std::string>{"don't", "use", "c3po",
                                      "\xE6\x9D\xB1\xE4\xBA\xAC\xE3\x81\xA7", "\xF0\x9F\x98\x80"}));
  EXPECT_EQ(light_stem("parties"), "party");
  EXPECT_EQ(light_stem("planning"), "plan");
}

// Recall of the embedder alone over labelled dialogue, where it is at hand.
class OnDialogue : public testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(OnDialogue, finds_the_evidence_as_well_as_measured) {
  const char* shared = std::getenv("CLAWMARK_SHARED");
  const std::string folder =
      (shared != nullptr ? shared : std::string(CLAWMARK_SOURCE_DIR) + "/../shared") + "/eval/" +
      GetParam().first;
  std::ifstream messages(folder + "/messages.jsonl"), questions(folder + "/questions.jsonl");
  if (!messages || !questions) GTEST_SKIP() << "no dialogues at " << folder;
  const auto embedder = make_builtin_embedder();
  struct Chunk {
    std::string id;
    Vector vector;
  };
  std::map<std::string, std::vector<Chunk>> conversations;
  for (std::string line; std::getline(messages, line);) {
    const json::object row = parse_json(line).value().get_object();
    const std::string text = get_string(row, "text") + " " + get_string(row, "caption");
    for (const std::string_view part : split_text(text, 600)) {
      const std::vector<std::string> one = {std::string(part)};
      conversations[get_string(row, "conv")].push_back(
          {get_string(row, "id"), embedder->embed_local(one).value()[0]});
    }
  }
  std::ofstream run;
  if (const char* out = std::getenv("CLAWMARK_RUN_DIR"))
    run.open(std::string(out) + "/" + GetParam().first + ".jsonl");
  double found = 0;
  std::size_t count = 0;
  for (std::string line; std::getline(questions, line);) {
    const json::object row = parse_json(line).value().get_object();
    const std::vector<std::string> question = {get_string(row, "question")};
    const Vector query = embedder->embed_local(question).value()[0];
    std::vector<std::pair<double, std::string>> ranked;
    for (const Chunk& chunk : conversations[get_string(row, "conv")])
      ranked.emplace_back(cosine(query, chunk.vector), chunk.id);
    std::sort(ranked.begin(), ranked.end(), std::greater<>());
    std::vector<std::string> ids;
    for (const auto& [score, id] : ranked) {
      if (ids.size() < 50 && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    if (run.is_open()) {
      run << to_text(json::object{{"qid", get_string(row, "qid")},
                                  {"ids", json::array(ids.begin(), ids.end())}})
          << "\n";
    }
    if (get_string(row, "category") == "adversarial") continue;
    const json::array& evidence = *find_array(row, "evidence");
    double hits = 0;
    for (const json::value& id : evidence) {
      const auto top =
          ids.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(10, ids.size()));
      if (std::find(ids.begin(), top, std::string(view(id.get_string()))) != top) ++hits;
    }
    found += hits / static_cast<double>(evidence.size());
    ++count;
  }
  const double recall = 100 * found / static_cast<double>(count);
  std::cout << GetParam().first << ": R@10 " << recall << " of " << count << " questions\n";
  EXPECT_GT(recall, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Recall, OnDialogue,
                         testing::Values(std::pair("locomo", 37.0), std::pair("realtalk", 42.0),
                                         std::pair("beam-100k", 36.0)));

}  // namespace
}  // namespace clawmark
