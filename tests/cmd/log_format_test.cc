// docs/log-format.md computes two events by hand; the log must agree with it to the byte.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "log/store.h"
#include "test_paths.h"
#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

NewEvent event(const char* type, const char* key, const char* payload) {
  NewEvent out;
  out.type = type;
  out.scope = {"main", "agent:main:main", Lane::kDirect, "owner"};
  out.dedupe_key = key;
  out.occurred = {1'795'000'000'000};
  out.payload = parse_json(payload)->get_object();
  return out;
}

TEST(LogFormat, the_worked_example_of_the_documentation) {
  support::TempDir dir;
  const ManualClock clock{TimeMs{1'795'000'000'000}};
  StoreOptions options;
  options.path = dir / "data/clawmark.db";
  auto store = Store::open(options, clock);
  ASSERT_TRUE(store.ok()) << describe(store.error());
  const std::string text = to_hex(sha256("I use helix"));
  const std::vector<NewEvent> events = {
      event(
          "message.observed", "m1",
          (R"({"entry_id":"20920f1e-764b-4a58-9368-967e666473fa","role":"user","class":"chat","bytes":11,"sha256":")" +
           text + "\"}")
              .c_str()),
      event(
          "fact.stated", "f1",
          R"({"key":"pref.editor","value":"helix","holder":"person:owner","subject":"","source":"user","confidence":1.0,"by":"cli"})")};
  auto txn = Transaction::begin(store->db());
  ASSERT_TRUE(txn.ok());
  EventLog log(clock, "6f1c2f0e-1d7b-4f5e-9a53-1f0d5c0b7a11");
  ASSERT_TRUE(log.append(*txn, events).ok());
  ASSERT_TRUE(txn->commit().ok());

  const std::string page =
      support::read_text(std::string(CLAWMARK_SOURCE_DIR) + "/docs/log-format.md");
  for (int seq = 1; seq <= 2; ++seq) {
    for (const char* column : {"payload", "lower(hex(payload_hash))", "lower(hex(chain))"}) {
      const auto value = store->db().query_text(
          std::string("SELECT ") + column + " FROM events WHERE seq = ?", seq);
      ASSERT_TRUE(value.ok() && value->has_value());
      EXPECT_THAT(page, testing::HasSubstr(**value)) << column << " of event " << seq;
    }
  }
}

}  // namespace
}  // namespace clawmark
