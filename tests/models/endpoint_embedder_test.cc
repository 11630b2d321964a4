#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "models/model.h"

namespace clawmark {
namespace {

using testing::HasSubstr;
using testing::Not;

EndpointOptions options(int dims = 0) {
  EndpointOptions o;
  o.url = "http://user:pw@127.0.0.1:9/v1";
  o.model = "bge-m3";
  o.api_key = "sk-EXAMPLE-0123456789";
  o.dims = dims;
  return o;
}

HttpResponse response(int status, std::string body,
                      std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

std::string item(int index, const std::string& embedding) {
  return "{\"index\":" + std::to_string(index) + ",\"embedding\":" + embedding + "}";
}
std::string data(std::initializer_list<std::string> items) {
  std::string all;
  for (const std::string& one : items) all += (all.empty() ? "" : ",") + one;
  return "{\"object\":\"list\",\"data\":[" + all + "]}";
}

TEST(EndpointEmbedder, plan_asks_for_floats_with_the_key_in_a_header_and_valid_utf8) {
  const auto embedder = make_endpoint_embedder(options(4));
  const std::vector<std::string> texts = {"cost \xED\xA0\xBD then more",
                                          "plain"};  // C008: half an emoji
  const HttpRequest request = embedder->plan(texts);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://user:pw@127.0.0.1:9/v1/embeddings");
  EXPECT_TRUE(is_valid_utf8(request.body));
  const auto body = parse_json(request.body).value().get_object();
  EXPECT_EQ(get_string(body, "encoding_format"), "float");
  EXPECT_EQ(get_int(body, "dimensions"), 4);
  EXPECT_EQ(find_array(body, "input")->size(), 2u);
  EXPECT_THAT(request.headers,
              testing::Contains(testing::Pair("Authorization", "Bearer sk-EXAMPLE-0123456789")));
  EXPECT_EQ(embedder->model().name, "http://127.0.0.1:9/v1|bge-m3");
}

TEST(EndpointEmbedder, C040_vectors_are_matched_by_index_and_never_by_guess) {
  const auto embedder = make_endpoint_embedder(options());
  const auto answer = embedder->interpret(
      response(200, data({item(3, "[0,3]"), item(0, "[1,0]"), item(1, "[0,1]")})), 4);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->vectors.size(), 4u);
  EXPECT_EQ(answer->vectors[0], (Vector{1, 0}));
  EXPECT_EQ(answer->vectors[1], (Vector{0, 1}));
  EXPECT_FALSE(answer->vectors[2].has_value());
  EXPECT_EQ(answer->vectors[3], (Vector{0, 1}));  // unit length
  EXPECT_EQ(answer->mismatched, 1u);
}

TEST(EndpointEmbedder, C040_without_indexes_a_short_list_pairs_nothing) {
  const auto embedder = make_endpoint_embedder(options());
  const auto complete = embedder->interpret(
      response(200, data({"{\"embedding\":[1,0]}", "{\"embedding\":[0,1]}"})), 2);
  ASSERT_TRUE(complete.ok());
  EXPECT_EQ(complete->vectors[1], (Vector{0, 1}));
  const auto shorter = embedder->interpret(response(200, data({"{\"embedding\":[1,0]}"})), 2);
  ASSERT_TRUE(shorter.ok());
  EXPECT_EQ(shorter->mismatched, 2u);
  EXPECT_FALSE(shorter->vectors[0].has_value());
  const auto twice = embedder->interpret(response(200, data({item(0, "[1,0]"), item(0, "[0,1]"),
                                                             item(9, "[0,1]"), item(-1, "[1,1]")})),
                                         1);
  EXPECT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().reason, "missing_vector");
}

TEST(EndpointEmbedder, C042_numbers_that_are_none_are_the_texts_own_fault) {
  const auto embedder = make_endpoint_embedder(options(2));
  for (const char* bad :
       {"[0.5,NaN]", "[null,1]", "[1e999,0]", "[0,0]", "[Infinity,1]", "[-Infinity,1]"}) {
    const auto batch =
        embedder->interpret(response(200, data({item(0, "[1,0]"), item(1, bad)})), 2);
    ASSERT_TRUE(batch.ok()) << bad << (batch.ok() ? "" : describe(batch.error()));
    EXPECT_TRUE(batch->vectors[0].has_value());
    EXPECT_FALSE(batch->vectors[1].has_value()) << bad;
    const auto alone = embedder->interpret(response(200, data({item(0, bad)})), 1);
    ASSERT_FALSE(alone.ok()) << bad;
    EXPECT_EQ(alone.error().kind, ErrorKind::kPoison) << bad;
  }
  const auto encode = embedder->interpret(
      response(500, R"({"error":"failed to encode response: json: unsupported value: NaN"})"), 16);
  EXPECT_EQ(encode.error().kind, ErrorKind::kPoison);
}

TEST(EndpointEmbedder, C046_base64_is_read_and_a_wrong_length_refused_with_both_numbers) {
  const auto embedder = make_endpoint_embedder(options(2));
  // 3.0f, 4.0f little endian
  const auto answer = embedder->interpret(response(200, data({item(0, "\"AABAQAAAgEA=\"")})), 1);
  ASSERT_TRUE(answer.ok());
  EXPECT_FLOAT_EQ((*answer->vectors[0])[0], 0.6f);
  EXPECT_FLOAT_EQ((*answer->vectors[0])[1], 0.8f);
  const auto wrong = embedder->interpret(response(200, data({item(0, "[1,2,3]")})), 1);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().reason, "wrong_length");
  EXPECT_THAT(wrong.error().message, testing::AllOf(HasSubstr("of 2 numbers"), HasSubstr("got 3")));
}

TEST(EndpointEmbedder, length_is_learnt_from_the_first_answer) {
  const auto embedder = make_endpoint_embedder(options());
  EXPECT_EQ(embedder->model().dims, 0);
  ASSERT_TRUE(embedder->interpret(response(200, data({item(0, "[1,2,2]")})), 1).ok());
  EXPECT_EQ(embedder->model().dims, 3);
  EXPECT_EQ(embedder->interpret(response(200, data({item(0, "[1,2]")})), 1).error().reason,
            "wrong_length");
}

TEST(EndpointEmbedder, C047_too_large_is_learnt_and_shown) {
  const auto embedder = make_endpoint_embedder(options());
  const std::vector<std::string> texts = {std::string(1500, 'x'), "short"};
  embedder->plan(texts);
  const std::size_t before = embedder->text_bytes_max();
  const auto refused = embedder->interpret(
      response(
          500,
          R"({"error":{"message":"input (992 tokens) is too large to process. increase the physical batch size"}})"),
      2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kRetriable);
  EXPECT_EQ(refused.error().reason, "too_long");
  EXPECT_LT(embedder->text_bytes_max(), before);
  EXPECT_LT(embedder->text_bytes_max(), 1500u);
  EXPECT_THAT(refused.error().message, HasSubstr(std::to_string(embedder->text_bytes_max())));
  embedder->plan(texts);
  const auto both = embedder->interpret(
      response(
          400,
          R"({"error":{"message":"This model's maximum context length is 512 tokens, however you requested 1024 tokens"}})"),
      2);
  EXPECT_EQ(both.error().reason, "too_long");
  EXPECT_LE(embedder->text_bytes_max(), 750u);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(embedder->interpret(response(413, "input is too large"), 1).ok());
  }
  EXPECT_GE(embedder->text_bytes_max(), 200u);
}

TEST(EndpointEmbedder, C050_429_carries_the_servers_wish) {
  const auto embedder = make_endpoint_embedder(options());
  const auto with = [&](std::vector<std::pair<std::string, std::string>> headers) {
    return embedder->interpret(response(429, "{}", std::move(headers)), 1).error();
  };
  EXPECT_EQ(with({{"retry-after", "60"}}).retry_after_ms, 60'000);
  EXPECT_EQ(with({{"retry-after", "86400"}}).retry_after_ms, kRetryAfterMaxMs);
  EXPECT_EQ(with({{"retry-after", "Tue, 03 Mar 2026 10:01:00 GMT"},
                  {"date", "Tue, 03 Mar 2026 10:00:00 GMT"}})
                .retry_after_ms,
            60'000);
  EXPECT_EQ(with({{"retry-after", "-3"}}).retry_after_ms, std::nullopt);
  EXPECT_EQ(with({{"retry-after", "later"}}).retry_after_ms, std::nullopt);
  EXPECT_EQ(with({}).retry_after_ms, std::nullopt);
  EXPECT_EQ(with({}).kind, ErrorKind::kRetriable);
}

TEST(EndpointEmbedder, C054_html_and_null_say_so) {
  const auto embedder = make_endpoint_embedder(options());
  const auto html = embedder->interpret(
      response(200, "<!DOCTYPE html><title>Sign in</title>", {{"content-type", "text/html"}}), 1);
  ASSERT_FALSE(html.ok());
  EXPECT_EQ(html.error().kind, ErrorKind::kRetriable);
  EXPECT_THAT(html.error().message, testing::AllOf(HasSubstr("HTML"), HasSubstr("proxy"),
                                                   HasSubstr("200"), HasSubstr("Sign in")));
  for (const char* body : {"null", "", "[]", "\"x\"", "{\"data\":", "{}"}) {
    const auto bad = embedder->interpret(response(200, body), 1);
    ASSERT_FALSE(bad.ok()) << body;
    EXPECT_EQ(bad.error().kind, ErrorKind::kRetriable) << body;
    EXPECT_THAT(bad.error().message, HasSubstr("200")) << body;
  }
}

TEST(EndpointEmbedder, C169_no_secret_in_any_error) {
  const auto embedder = make_endpoint_embedder(options());
  for (const int status : {400, 401, 403, 404, 422, 500, 502}) {
    for (
        const std::string body :
        {R"({"error":{"message":"bad key sk-EXAMPLE-0123456789 for Authorization: Bearer sk-EXAMPLE-0123456789, user:pw"}})",
         "Authorization: Bearer sk-EXAMPLE-0123456789 user:pw",
         "<html>sk-EXAMPLE-0123456789 user:pw</html>"}) {
      const auto refused = embedder->interpret(response(status, body), 1);
      ASSERT_FALSE(refused.ok());
      EXPECT_THAT(describe(refused.error()),
                  testing::AllOf(Not(HasSubstr("sk-EXAMPLE")), Not(HasSubstr("user:pw"))))
          << body;
    }
  }
}

TEST(EndpointEmbedder, statuses_have_their_kinds) {
  const auto embedder = make_endpoint_embedder(options());
  const auto kind = [&](int status, const char* body) {
    const Error error = embedder->interpret(response(status, body), 2).error();
    return std::string(to_string(error.kind)) + "/" + error.reason;
  };
  const std::string retriable(to_string(ErrorKind::kRetriable)),
      poison(to_string(ErrorKind::kPoison));
  EXPECT_EQ(kind(401, "{}"), retriable + "/http_401");
  EXPECT_EQ(kind(403, "{}"), retriable + "/http_403");
  EXPECT_EQ(kind(404, "{}"), retriable + "/http_404");
  EXPECT_EQ(kind(302, ""), retriable + "/http_302");
  EXPECT_EQ(kind(408, ""), retriable + "/http_408");
  EXPECT_EQ(kind(503, "busy"), retriable + "/http_503");
  EXPECT_EQ(kind(400, R"({"error":"invalid input"})"), poison + "/rejected");
  EXPECT_EQ(kind(422, R"({"detail":[{"msg":"bad input"}]})"), poison + "/rejected");
  EXPECT_EQ(kind(400, R"({"error":{"message":"API key not valid"}})"), retriable + "/http_400");
  EXPECT_EQ(kind(400, R"({"error":{"message":"model does not exist"}})"), retriable + "/http_400");
  const auto passed =
      embedder->interpret(make_error(ErrorKind::kRetriable, "transport", "timeout", "t"), 1);
  EXPECT_EQ(passed.error().reason, "timeout");
}

TEST(EndpointEmbedder, a_refused_parameter_is_left_out_from_then_on) {
  const auto embedder = make_endpoint_embedder(options(2));
  const std::vector<std::string> texts = {"x"};
  const auto refused = embedder->interpret(
      response(400, R"({"error":"model does not support matryoshka, changing dimensions"})"), 1);
  EXPECT_EQ(refused.error().kind, ErrorKind::kRetriable);
  EXPECT_THAT(embedder->plan(texts).body, Not(HasSubstr("dimensions")));
}

}  // namespace
}  // namespace clawmark
