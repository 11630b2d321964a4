// What the page is answered, without a network: its files, what it may ask, and that it forgets
// what was shown.

#include "cmd/web/web_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "test_paths.h"
#include "tests/support/fixtures.h"

namespace clawmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Page : public ::testing::Test {
 protected:
  HttpAnswer post(const std::string& command, const std::string& body) {
    return page.answer({"POST", "/api/" + command, {{"content-type", "application/json"}}, body});
  }
  std::vector<std::string> asked;
  std::string answer = "{}";
  Result<HttpAnswer> ask(const HttpCall& call) {
    asked.push_back(call.method + " " + call.target + " " + call.body);
    return HttpAnswer{200, "application/json", answer, {}};
  }
  WebPage page{[this](const HttpCall& call) { return ask(call); }, {{"agent", "work"}}};
};

TEST_F(Page, hands_out_its_files_as_they_are_in_the_tree) {
  for (const std::string name : {"index.html", "style.css", "app.js", "dom.js", "memory.js",
                                 "world.js", "recall.js", "health.js"}) {
    const std::string path = name == "index.html" ? "/" : "/" + name;
    EXPECT_TRUE(WebPage::is_open(path));
    const HttpAnswer file = page.answer({"GET", path, {}, ""});
    EXPECT_EQ(file.body,
              support::read_text(std::string(CLAWMARK_SOURCE_DIR) + "/cmd/web/page/" + name))
        << name;
  }
  EXPECT_FALSE(WebPage::is_open("/api/facts"));
  EXPECT_FALSE(WebPage::is_open("/../cmd/web/web_page.cc"));
  EXPECT_THAT(asked, IsEmpty());
}

TEST_F(Page, asks_with_the_eyes_of_the_command_line) {
  EXPECT_EQ(post("facts", R"({"params":{"agent":"other","limit":5}})").status, 200);
  EXPECT_THAT(asked, ElementsAre(R"(POST /v1/admin/facts {"params":{"agent":"work","limit":5}})"));
}

TEST_F(Page, what_would_be_forgotten_is_compared_with_what_was_shown) {
  answer = R"({"ok":true,"details":{"preview":true,"confirm":"abc"}})";
  EXPECT_EQ(post("forget", R"({"params":{"key":"user.a","confirm":"old"}})").status, 409);
  EXPECT_THAT(asked, ElementsAre(HasSubstr(R"("preview":true)")));
  asked.clear();
  EXPECT_EQ(post("forget", R"({"params":{"key":"user.a","confirm":"abc","purge":true}})").status,
            200);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_THAT(asked[0], HasSubstr(R"("preview":true)"));
  EXPECT_EQ(asked[1],
            R"(POST /v1/admin/forget {"params":{"key":"user.a","confirm":"abc","agent":"work"}})");
}

TEST_F(Page, without_a_code_it_only_shows) {
  answer = R"({"ok":true,"details":{"preview":true,"confirm":""}})";
  for (const char* body :
       {R"({"params":{"key":"user.a"}})", R"({"params":{"key":"user.a","confirm":""}})",
        R"({"params":{"key":"user.a","preview":false}})"}) {
    asked.clear();
    EXPECT_EQ(post("forget", body).status, 200);
    EXPECT_THAT(asked, ElementsAre(HasSubstr(R"("preview":true)"))) << body;
  }
}

TEST_F(Page, tries_one_thing_again_and_never_all) {
  EXPECT_EQ(post("parked_retry", R"({"params":{"event":9}})").status, 200);
  EXPECT_THAT(asked, ElementsAre(HasSubstr("/v1/admin/parked_retry")));
  for (const char* body :
       {"{}", R"({"params":{}})", R"({"params":{"event":0}})", R"({"params":[9]})"}) {
    EXPECT_EQ(post("parked_retry", body).status, 400) << body;
  }
}

TEST_F(Page, a_memory_that_cannot_be_reached_is_an_error_with_its_reason) {
  const WebPage away(
      [](const HttpCall&) -> Result<HttpAnswer> {
        return make_error(ErrorKind::kRetriable, "socket", "timeout", "did not answer in time");
      },
      {});
  const HttpAnswer answer_away = away.answer({"GET", "/api/status", {}, ""});
  EXPECT_EQ(answer_away.status, 503);
  EXPECT_THAT(answer_away.body, HasSubstr("did not answer in time"));
}

}  // namespace
}  // namespace clawmark
