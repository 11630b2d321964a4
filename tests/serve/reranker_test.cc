// A reranking endpoint: what it may change, and what happens when it does not answer.

#include <gtest/gtest.h>

#include "models/reranker.h"
#include "serve/query_reranker.h"
#include "world.h"

namespace clawmark {
namespace {

// Answers as told; silent when told nothing.
class ScriptedTransport final : public Transport {
 public:
  std::function<std::optional<Result<HttpResponse>>(const HttpRequest&)> script;
  std::vector<HttpRequest> asked;

  void send(HttpRequest request, Done done) override {
    asked.push_back(request);
    if (auto answer = script(request)) {
      done(std::move(*answer));
    } else {
      late.push_back(std::move(done));
    }
  }
  void cancel_all() override {}
  std::vector<Done> late;
};

HttpResponse ok(const std::string& body) {
  return {200, {{"content-type", "application/json"}}, body};
}

class Rerank : public testing::Test {
 protected:
  Rerank() {
    world.say({.text = "the heron was seen at the mill", .session_id = "a"});
    world.say({.text = "the heron was seen at the lake, said Bo", .session_id = "b"});
    world.say({.text = "no heron was seen here today by us", .session_id = "c"});
    world.fold();
    transport.script = [](const HttpRequest&) { return std::nullopt; };
  }
  RecallAnswer recall() {
    Retrieval retrieval(world.clock, world.serving->bodies, nullptr, nullptr, &reranker);
    RecallQuery query;
    query.text = "where was the heron seen";
    query.deadline_steady_ms = world.clock.steady_ms() + 60;
    auto lease = must(world.serving->readers.lease());
    return retrieval.recall(*lease, sight, query);
  }
  World world;
  ScriptedTransport transport;
  QueryReranker reranker{"http://127.0.0.1:9/rerank", transport};
  Sight sight = must(sight_as("main", "telegram:101"));
};

TEST_F(Rerank, its_order_is_the_order) {
  transport.script = [](const HttpRequest& request) {
    const json::value body = must(parse_json(request.body));
    const auto& texts = *find_array(body.as_object(), "documents");
    json::array rows;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool lake = view(texts[i].as_string()).find("lake") != std::string_view::npos;
      rows.push_back(json::object{{"index", i}, {"relevance_score", lake ? 0.9 : 0.1}});
    }
    return std::optional<Result<HttpResponse>>(ok(to_text(json::object{{"results", rows}})));
  };
  const RecallAnswer answer = recall();
  ASSERT_EQ(answer.items.size(), 3U);
  EXPECT_NE(answer.items.front().excerpt.find("lake"), std::string::npos);
  EXPECT_TRUE(answer.degraded.empty());
  EXPECT_EQ(transport.asked.size(), 1U);
}

TEST_F(Rerank, silence_and_faults_leave_the_order_as_it_was_and_are_said) {
  const RecallAnswer silent = recall();
  EXPECT_EQ(silent.items.size(), 3U);
  EXPECT_EQ(silent.degraded, (std::vector<std::string>{"rerank_timeout"}));
  transport.late.front()(ok("[]"));  // too late: harmless
  transport.script = [](const HttpRequest&) {
    return std::optional<Result<HttpResponse>>(ok("[{\"index\": 0, \"score\": 1}]"));
  };
  const RecallAnswer partial = recall();
  EXPECT_EQ(partial.items.size(), 3U);
  EXPECT_EQ(partial.items.front().message, silent.items.front().message);
  EXPECT_EQ(partial.degraded, (std::vector<std::string>{"rerank_mismatch"}));
}

TEST(RerankAnswer, is_read_in_its_shapes_and_refused_when_a_text_has_no_score) {
  const auto read = [](const std::string& body) {
    return interpret_rerank(ok(body), "http://h/rerank", 2);
  };
  const std::vector<double> scores = {0.5, 2};
  EXPECT_EQ(must(read(R"([{"index": 1, "score": 2}, {"index": 0, "score": 0.5}])")), scores);
  EXPECT_EQ(must(read(R"({"results": [{"index": 1, "relevance_score": 2},
                                      {"index": 0, "relevance_score": 0.5}]})")),
            scores);
  EXPECT_EQ(must(read(R"({"data": [{"index": 0, "score": 0.5}, {"index": 1, "score": 2}]})")),
            scores);
  for (const char* body :
       {"[]", "null", "{}", "<html>", R"([{"index": 0, "score": 1}, {"index": 0, "score": 1}])",
        R"([{"index": 7, "score": 1}])", R"([{"index": 0, "score": "x"}])", "[3]"}) {
    EXPECT_FALSE(read(body).ok()) << body;
  }
}

}  // namespace
}  // namespace clawmark
