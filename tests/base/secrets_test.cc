// Secrets: what must go, what must stay. Method: tables both ways, then laws (idempotence, linear
// growth of work is covered by the fixed number of passes) on generated text.

#include "base/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace clawmark {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Leak {
  const char* text;
  const char* secret;  // must not be in the result
  const char* kept;    // must be in the result
};

std::string repeat(const std::string& piece, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += piece;
  return out;
}

constexpr Leak kLeaks[] = {
    // Vendors' tokens.
    {"use sk-EXAMPLE for now", "sk-EXAMPLE", "use [secret:token] for now"},
    {"sk-proj-abcDEF0123456789_-xyz", "abcDEF", "[secret:token]"},
    {"key sk-ant-api03-AAAA1111bbbb2222-cccc", "AAAA1111", "key [secret:"},
    {"STRIPE sk_live_EXAMPLE0000000000", "EXAMPLE0000", "STRIPE [secret:token]"},
    {"remember: export DEPLOY_TOKEN=tok_live_EXAMPLE000000000000000000", "EXAMPLE0000",
     "export DEPLOY_TOKEN=[secret:token]"},
    {"push with ghp_EXAMPLE0123456789abcdefghijklmnopqr today", "EXAMPLE0123",
     "push with [secret:token] today"},
    {"github_pat_11EXAMPLE0_abcdefghijklmnop", "11EXAMPLE0", "[secret:token]"},
    {"(xoxb-0000000000-EXAMPLE)", "EXAMPLE", "([secret:token])"},
    {"AKIAIOSFODNN7EXAMPLE is the id", "IOSFODNN7", "[secret:token] is the id"},
    {"maps: AIzaSyEXAMPLE-EXAMPLE_EXAMPLE012345678", "SyEXAMPLE", "maps: [secret:token]"},
    {"bot 123456789:AAEXAMPLEexampleEXAMPLEexample_012345 runs", "AAEXAMPLE",
     "bot [secret:token] runs"},
    {"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl!", "eyJzdWIi",
     "jwt [secret:token]!"},
    // Assignments.
    {"DB_PASSWORD=hunter2", "hunter2", "DB_PASSWORD=[secret:password]"},
    {"Mein Passwort lautet Sommer2026!", "Sommer2026", "lautet [secret:password]"},
    {"PGPASSWORD=swordfish psql", "swordfish", "PGPASSWORD=[secret:password] psql"},
    {"password: hunter2, user: ada", "hunter2", "password: [secret:password], user: ada"},
    {"**Password:** hunter2", "hunter2", "[secret:password]"},
    {"{\"password\": \"swordfish\", \"port\": 5432}", "swordfish", "\"port\": 5432"},
    {"{\\\"password\\\": \\\"swordfish\\\", \\\"n\\\":1}", "swordfish", "\\\"n\\\":1"},
    {"client_secret = 'a1b2c3d4e5f6'", "a1b2c3d4", "client_secret = '[secret:token]'"},
    {"authToken: \"9f8e7d6c5b4a\"", "9f8e7d6c", "authToken: \"[secret:token]\""},
    {"os.environ[\"API_KEY\"] = \"abc123def456\"", "abc123def456", "[secret:token]"},
    {"x-api-key: abc123def456ghi", "abc123def456", "x-api-key: [secret:token]"},
    {"my api key: abc123def456ghi", "abc123def456", "my api key: [secret:token]"},
    {"run it with --password hunter2 --port 1", "hunter2", "--password [secret:password] --port 1"},
    {"deploy --api-key=zyx987wvu654", "zyx987", "--api-key=[secret:token]"},
    {"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalr",
     "AWS_SECRET_ACCESS_KEY=[secret:token]"},
    {"aws secret access key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY1 ok", "wJalr",
     "key [secret:token] ok"},
    {"https://api.example/v1?api_key=abc123def456&page=2", "abc123", "&page=2"},
    {"dsn password=ab,cd12 host=x", "cd12", "password=[secret:password] host=x"},
    {"key: 0123456789abcdefABCDEF0123", "abcdefABC", "key: [secret:key]"},
    // In words.
    {"and the db password is correct-horse-9", "correct-horse-9",
     "and the db password is [secret:password]"},
    {"the wifi password is 20202020.", "20202020", "the wifi password is [secret:password]."},
    {"My password is swordfish, keep it safe", "swordfish", "[secret:password], keep it safe"},
    {"the password for the staging db is tr0ub4dor", "tr0ub4dor",
     "for the staging db is [secret:password]"},
    {"password was changed to n3wpass99 yesterday", "n3wpass99", "[secret:password] yesterday"},
    {"please set the password to Tr0ub4dor&3", "Tr0ub4dor",
     "set the password to [secret:password]"},
    {"its passphrase is \"correct horse battery staple\"", "battery", "is \"[secret:password]\""},
    {"my api key is abc123def456", "abc123def456", "my api key is [secret:token]"},
    {"the PIN is 4711", "4711", "the PIN is [secret:pin]"},
    {"пароль: qwerty123", "qwerty123", "пароль: [secret:password]"},
    {"密码是abc12345", "abc12345", "[secret:password]"},
    {"la contraseña es gato2024", "gato2024", "es [secret:password]"},
    // Addresses and headers.
    {"clone https://u:pw@host/path", ":pw@", "https://u:[secret:password]@host/path"},
    {"postgres://app:s3cr3t@db:5432/x", "s3cr3t", "postgres://app:[secret:password]@db:5432/x"},
    {"http://user:pw@127.0.0.1:9/v1: connection refused", ":pw@", "@127.0.0.1:9/v1"},
    {"Authorization: Bearer EXAMPLE-key", "EXAMPLE-key", "Authorization: Bearer [secret:token]"},
    {"{\"authorization\":\"Basic dXNlcjpwYXNz\"}", "dXNlcjpw", "Basic [secret:token]"},
    {"401 for Bearer abc123def456", "abc123", "401 for Bearer [secret:token]"},
    {"mysql -uroot -pnachtfalter99 db", "nachtfalter99", "mysql -uroot -p[secret:password] db"},
    {"curl -u ada:lovelace1 https://x", "lovelace1", "curl -u ada:[secret:password] https://x"},
    // Keys and cards.
    {"-----BEGIN RSA PRIVATE KEY-----\nMIIEexample\n-----END RSA PRIVATE KEY-----\nthanks",
     "MIIEexample", "[secret:private_key]\nthanks"},
    {"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXkexample", "b3BlbnNz",
     "[secret:private_key]"},
    {"\"-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----\\n\"", "MIIE",
     "[secret:private_key]"},
    {"card 4111 1111 1111 1111 exp 12/29", "4111", "card [secret:card] exp 12/29"},
    {"5555555555554444", "5555", "[secret:card]"},
    {"amex 3782-822463-10005", "822463", "amex [secret:card]"},
};

TEST(Secrets, C076_C169_literals_go_and_the_sentence_stays) {
  for (const Leak& leak : kLeaks) {
    std::size_t found = 0;
    const std::string out = redact_secrets(leak.text, found);
    EXPECT_THAT(out, Not(HasSubstr(leak.secret))) << leak.text;
    EXPECT_THAT(out, HasSubstr(leak.kept)) << leak.text;
    EXPECT_GE(found, 1u) << leak.text;
    EXPECT_TRUE(holds_secret(leak.text)) << leak.text;
    EXPECT_EQ(redact_secrets(out), out) << "not idempotent: " << leak.text;
    EXPECT_FALSE(holds_secret(out)) << out;
  }
}

TEST(Secrets, C076_a_key_with_a_secret_in_its_words_is_found) {
  for (const char* key :
       {"user.tok_live_example000000000000000000", "user.note_ghp_0123456789abcdef0123",
        "user.akiaiosfodnn7example", "user.password.hunter2", "project.db_password_is_letmein",
        "user.password_hunter2", "project.key_4f9a8b7c6d5e4f3a2b1c"}) {
    EXPECT_TRUE(key_holds_secret(key)) << key;
  }
  for (const char* key :
       {"user.db_password", "project.token_budget", "pref.editor", "lesson.sk_learn_fit",
        "project.note_write_dates_as_24_november", "project.decision_first_20_buyers_get_a",
        "project.password_policy", "user.keyboard", "project.asia_2027", "project.api_key_rotation",
        "user.pin_board"}) {
    EXPECT_FALSE(key_holds_secret(key)) << key;
  }
}

TEST(Secrets, C076_inside_longer_text_and_json_they_go_as_well) {
  for (const Leak& leak : kLeaks) {
    const std::string text = "Ada said (yesterday):\n" + std::string(leak.text) + "\nand went on.";
    const std::string out = redact_secrets(text);
    EXPECT_THAT(out, Not(HasSubstr(leak.secret))) << text;
    EXPECT_THAT(out, HasSubstr("Ada said (yesterday):")) << text;
    EXPECT_EQ(redact_secrets(out), out);
  }
}

constexpr const char* kHarmless[] = {
    "my token budget is 3000",
    "password policy requires 12 characters",
    "the secret is patience",
    "The password is wrong.",
    "password is required",
    "the password is too short and the token expired",
    "password: required",
    "password is at least 12 characters",
    "your password must be 12-character long",
    "the password for the db is stored in vault",
    "max_tokens: 3000, token_count = 41",
    "input_tokens=1200 output_tokens=88",
    "token = response.token",
    "password = get_password(user)",
    "password = request.json['password']",
    "hashed_password = argon2.hash(password)",
    "User(name=name, password=hashed_password)",
    "password=$DB_PASSWORD",
    "export TOKEN=${DEPLOY_TOKEN}",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <your-token>",
    "{\"key\":\"pref.editor\",\"value\":\"helix\"}",
    "{\"session_key\":\"agent:main:telegram:direct:101\"}",
    "{\"dedupe_key\":\"msg:main:20920f1e-1c2d-4e5f-8a9b-0c1d2e3f4a5b\"}",
    "the key is under the mat",
    "press any key: 5 options",
    "primary key: user_id",
    "the secret ingredient is cinnamon",
    "Bearer tokens are sent in headers",
    "basic JavaScript and basic understanding",
    "sk-learn and sk-image are libraries",
    "ssh://git@github.com/org/repo",
    "mail ada@example.org or see https://example.org/a:b@c",
    "at 1795979827724 ms, id 20920f1e-1c2d-4e5f-8a9b-0c1d2e3f4a5b",
    "order 4111111111111112 shipped",  // not Luhn
    "Discord id 1042338475613421568",  // 19 digits
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "we pass the exam at 8, pass 3 of 4",
    "the token ring network of 1985",
    "pin the version to 1.2.3 and pin 12345 boards",
    "GPIO pin: 13",
    "turkey: 3 kg, monkey=2, hockey: 5 goals",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "I use helix as my editor and live in Lisbon",
    "git commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "the password has 2 parts; the token lasts 30min",
    "",
};

TEST(Secrets, C076_counts_and_talk_about_secrets_stay_untouched) {
  for (const char* text : kHarmless) {
    std::size_t found = 0;
    EXPECT_EQ(redact_secrets(text, found), text);
    EXPECT_EQ(found, 0u) << text;
  }
}

TEST(Secrets, names_of_secrets_are_known_by_their_last_word) {
  for (const char* name : {"user.db_password", "DEPLOY_TOKEN", "project.api_key", "apiKey", "pin",
                           "user.wifi-password", "client_secret"}) {
    EXPECT_TRUE(names_secret(name)) << name;
  }
  for (const char* name : {"pref.editor", "token_budget", "user.key", "max_tokens", "project.keys",
                           "lesson.password_policy", ""}) {
    EXPECT_FALSE(names_secret(name)) << name;
  }
}

TEST(Secrets, redaction_is_idempotent_on_generated_text) {
  const std::vector<std::string> pieces = {"password",
                                           "token",
                                           "key",
                                           "is",
                                           " ",
                                           " ",
                                           ":",
                                           "=",
                                           "\"",
                                           "'",
                                           "\n",
                                           "sk-AAAA1111bbbb",
                                           "hunter2",
                                           "[secret:",
                                           "[secret:token]",
                                           "]",
                                           "://",
                                           "u:pw@h",
                                           "4111111111111111",
                                           "Bearer ",
                                           "-----BEGIN PRIVATE KEY-----",
                                           "-----END ",
                                           "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.x",
                                           "the",
                                           ",",
                                           "&",
                                           "a1B2c3D4e5F6g7H8i9J0k1L2",
                                           "--",
                                           "secret",
                                           "\\\"",
                                           "ü",
                                           "密码",
                                           "PIN",
                                           "4711"};
  std::mt19937 random(20261129);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const auto length = random() % 14;
    for (std::size_t i = 0; i < length; ++i) text += pieces[random() % pieces.size()];
    const std::string once = redact_secrets(text);
    ASSERT_EQ(redact_secrets(once), once) << text;
  }
}

TEST(Secrets, hostile_repetition_ends) {
  // Each of these would take hours if a recogniser read to the end of the text at every start.
  const std::string nasty[] = {
      "://",      "://a", "password ", "-----BEGIN PRIVATE KEY-----", "token=\"", "--key", "4111 ",
      "[secret:", "eyJ",  "sk-",       "password for a b c d ",       "curl -u ", "a-"};
  for (const std::string& piece : nasty) {
    const std::string text = repeat(piece, 200'000);
    EXPECT_LE(redact_secrets(text).size(), 2 * text.size() + 64) << piece;
  }
}

}  // namespace
}  // namespace clawmark
