// UTF-8, globs, hashes.

#include <gtest/gtest.h>

#include <random>

#include "base/hash.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

TEST(Utf8, ill_formed_sequences_become_one_replacement_per_maximal_subpart) {
  struct Case {
    const char* bytes;
    const char* text;
  };
  constexpr Case kCases[] = {
      {"a\xC3\xA4z", "aäz"},
      {"\xC0\xAF", "\uFFFD\uFFFD"},                      // overlong
      {"\xE0\x80\xBF", "\uFFFD\uFFFD\uFFFD"},            // overlong
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},            // surrogate
      {"\xF4\x91\x92\x93", "\uFFFD\uFFFD\uFFFD\uFFFD"},  // beyond U+10FFFF
      {"\xE2\x82z", "\uFFFDz"},                          // cut short
      {"\xF0\x9F\x98", "\uFFFD"},
      {"\x80z", "\uFFFDz"},
      {"\xFFz", "\uFFFDz"},
  };
  for (const Case& c : kCases) {
    EXPECT_EQ(to_valid_utf8(c.bytes), c.text);
    EXPECT_TRUE(is_valid_utf8(c.text));
  }
  EXPECT_FALSE(is_valid_utf8("\xC0\xAF"));
  EXPECT_EQ(to_valid_utf8("😀 ok"), "😀 ok");
}

TEST(Utf8, every_code_point_survives_the_round_trip) {
  for (char32_t c = 1; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 97) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_code_point(text, c);
    std::size_t at = 0;
    ASSERT_EQ(next_code_point(text, at), c);
    ASSERT_EQ(at, text.size());
  }
}

TEST(Utf8, any_bytes_end_and_stay_repaired) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 12 > 0 && round % 2 ? 'a' : random());
    const std::string text = to_valid_utf8(bytes);
    std::size_t steps = 0;
    for (std::size_t at = 0; at < bytes.size(); ++steps) next_code_point(bytes, at);
    EXPECT_EQ(count_code_points(bytes), steps);
    EXPECT_EQ(is_valid_utf8(bytes), text == bytes);
    EXPECT_TRUE(is_valid_utf8(text));
    EXPECT_EQ(count_code_points(text), count_code_points(bytes));
    EXPECT_LE(prefix_bytes(text, 7).size(), 7u);
    EXPECT_TRUE(is_valid_utf8(prefix_bytes(text, 7)));
    EXPECT_TRUE(is_valid_utf8(suffix_bytes(text, 7)));
    EXPECT_LE(count_code_points(prefix_code_points(text, 5)), 5u);
  }
}

TEST(Utf8, cuts_end_between_code_points) {
  EXPECT_EQ(prefix_bytes("aäö", 2), "a");
  EXPECT_EQ(prefix_bytes("aäö", 3), "aä");
  EXPECT_EQ(prefix_bytes("aäö", 99), "aäö");
  EXPECT_EQ(prefix_bytes("😀", 3), "");
  EXPECT_EQ(suffix_bytes("aäö", 3), "ö");
  EXPECT_EQ(prefix_code_points("aäö", 2), "aä");
  EXPECT_EQ(count_code_points("aäö😀"), 4u);
}

TEST(Utf8, white_space_and_case) {
  EXPECT_EQ(collapse_space("  a \t\n b\u00A0\u3000c "), "a b c");
  EXPECT_EQ(trim(" \t a b \n"), "a b");
  EXPECT_EQ(lower_ascii("ÄBC"), "Äbc");
  EXPECT_EQ(fold_case("Straße ＡＢＣ"), "strasse abc");
  EXPECT_TRUE(starts_with_ci("Bearer x", "bearer "));
  EXPECT_FALSE(starts_with_ci("Bea", "bearer"));
}

TEST(Glob, stars_and_question_marks_over_the_whole_string) {
  EXPECT_TRUE(glob_match("agent:*:cron:*", "agent:main:cron:1:run:2"));
  EXPECT_FALSE(glob_match("agent:*:cron", "agent:main:cron:1"));
  EXPECT_TRUE(glob_match("a?c*", "abc"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_TRUE(glob_match("**a**", "xxaxx"));
  // Would take exponential time in a naive matcher.
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "a*";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(20'000, 'a')));
}

TEST(Hash, known_answers) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cULL);
}

TEST(Hash, pieces_give_the_hash_of_the_whole) {
  Sha256 hash;
  hash.update("a").update("").update("bc");
  EXPECT_EQ(hash.finish(), sha256("abc"));
}

TEST(Hash, hex_comes_back_or_is_refused) {
  const Hash256 hash = sha256("abc");
  EXPECT_EQ(hash_from_hex(to_hex(hash)), hash);
  EXPECT_EQ(hash_from_hex(std::string(64, 'G')), std::nullopt);
  EXPECT_EQ(hash_from_hex("ab"), std::nullopt);
}

}  // namespace
}  // namespace clawmark
