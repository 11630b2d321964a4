#pragma once
// The graph worker over fake carriers, with a model played by the test.

#include <memory>
#include <string>
#include <utility>

#include "tests/workers/support.h"

namespace clawmark {

inline constexpr std::int64_t kMs = 1'795'000'000'000 - kHourMs;

inline Entry said(int n, const std::string& text, const std::string& sender = "101") {
  Entry entry = message(uuid(n), "user", text, kMs + n * 1000);
  entry.sender_id = sender;
  entry.channel = "telegram";
  return entry;
}

// A model that answers with prose and one task for each message, or fails as told.
class FakeGraph final : public GraphExtractor {
 public:
  std::string model() const override { return "fake-graph"; }
  std::string prompt_version() const override { return "1"; }
  bool is_local() const override { return false; }
  Result<GraphAnswer> extract_local(std::span<const WindowMessage>, std::string_view) override {
    return make_error(ErrorKind::kFatal, "graph", "not_local", "");
  }
  HttpRequest plan(std::span<const WindowMessage> window, std::string_view) const override {
    HttpRequest request;
    request.url = "http://graph.test/v1/chat/completions";
    for (const auto& m : window) request.body += m.text + "\n";
    return request;
  }
  HttpRequest plan_shorter(std::span<const WindowMessage> window,
                           std::string_view zone) const override {
    ++shorter;
    return plan(window, zone);
  }
  Result<GraphAnswer> interpret(const Result<HttpResponse>& response,
                                std::span<const WindowMessage> window) const override {
    if (!response.ok()) return response.error();
    if (response->status != 200) {
      return make_error(ErrorKind::kPoison, "graph", "rejected", "HTTP 400");
    }
    GraphAnswer answer;
    answer.prose = "They talked.";
    if (!proses.empty()) {
      answer.prose = proses.front();
      proses.erase(proses.begin());
    }
    answer.state = "All is said.";
    for (const auto& m : window) {
      GraphNode node;
      node.type = "task";
      node.name = m.text;
      node.status = "pending";
      node.confidence = 0.9;
      node.evidence = {{m.message, m.text}};
      node.verified = true;
      answer.nodes.push_back(std::move(node));
    }
    answer.usage = {100, 10};
    return answer;
  }

  mutable std::vector<std::string> proses;  // of the next answers; then "They talked."
  mutable int shorter = 0;                  // how often less was asked for
};

// Joins summaries by saying how many there were, or as told.
class FakeSummarizer final : public Summarizer {
 public:
  std::string model() const override { return "fake-summaries"; }
  std::string prompt_version() const override { return "1"; }
  HttpRequest plan(std::span<const std::string> texts, int depth, bool less) const override {
    asked.push_back(std::to_string(texts.size()) + " at " + std::to_string(depth) +
                    (less ? " shorter" : ""));
    HttpRequest request;
    request.url = "http://summary.test/v1/chat/completions";
    for (const auto& text : texts) request.body += text + "\n";
    request.answer_tokens_max = 500;
    return request;
  }
  Result<SummaryAnswer> interpret(const Result<HttpResponse>& response) const override {
    if (!response.ok()) return response.error();
    if (response->status != 200) {
      return make_error(ErrorKind::kPoison, "summary", "rejected", "HTTP 400");
    }
    SummaryAnswer answer;
    answer.text = answers.empty() ? "All of it." : answers.front();
    if (!answers.empty()) answers.erase(answers.begin());
    answer.usage = {50, 5};
    return answer;
  }

  mutable std::vector<std::string> asked, answers;
};

struct GraphWorld : World {
  explicit GraphWorld(std::shared_ptr<GraphExtractor> given = nullptr)
      : graph(given ? std::move(given) : make_builtin_graph_extractor()) {
    call = [this](const HttpRequest& request) -> Result<HttpResponse> {
      ++calls;
      if (meanwhile) std::exchange(meanwhile, nullptr)();
      HttpResponse response;
      response.status = request.body.find("poison") == std::string::npos ? 200 : 400;
      if (request.answer_tokens_max > 0) {
        response.body = R"({"usage":{"prompt_tokens":50,"completion_tokens":5}})";
      }
      return response;
    };
    close();
    models = [this] { return PipelineModels{embedder, extractor, "", "", graph, summarizer}; };
    open();
  }
  std::shared_ptr<GraphExtractor> graph;
  std::shared_ptr<FakeSummarizer> summarizer;
  std::function<void()> meanwhile;  // once, while the model is asked
  int calls = 0;
};

}  // namespace clawmark
