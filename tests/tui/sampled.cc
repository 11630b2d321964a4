#include "tests/tui/sampled.h"

#include <stdexcept>

#include "base/utf8.h"
#include "cmd/clawmark-sample/sample.h"
#include "cmd/console_port.h"
#include "log/store.h"
#include "serve/api.h"
#include "serve/serving.h"
#include "test_paths.h"
#include "tests/support/store_builder.h"
#include "workers/pipeline.h"

namespace clawmark::support {
namespace {

constexpr TimeMs kNow{1'795'262'400'000};  // 2026-11-21T12:00:00Z, after the last session

tui::Key key_of(const std::string& name) {
  using Kind = tui::Key::Kind;
  static const std::map<std::string, Kind> kNamed = {
      {"Up", Kind::kUp},          {"Down", Kind::kDown},       {"PPage", Kind::kPageUp},
      {"NPage", Kind::kPageDown}, {"Home", Kind::kHome},       {"End", Kind::kEnd},
      {"Enter", Kind::kEnter},    {"Escape", Kind::kEscape},   {"Tab", Kind::kTab},
      {"BTab", Kind::kBackTab},   {"BSpace", Kind::kBackspace}};
  const auto found = kNamed.find(name);
  if (found != kNamed.end()) return {found->second, 0};
  std::size_t at = 0;
  return {Kind::kCharacter, next_code_point(name, at)};
}

}  // namespace

struct Sampled::State {
  TempDir dir;
  ManualClock clock{kNow};
  std::unique_ptr<Store> store;
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<Serving> serving;
  std::unique_ptr<HttpServer> server;
};

Sampled::Sampled() : state_(std::make_unique<State>()) {
  State& s = *state_;
  SampleOptions options;
  options.story_dir = std::string(CLAWMARK_SOURCE_DIR) + "/deploy/sample";
  options.state_dir = s.dir / "state";
  if (!write_sample(options).ok()) throw std::runtime_error("no sample");
  StoreOptions where;
  where.path = s.dir / "clawmark.db";
  s.store = std::make_unique<Store>(Store::open(where, s.clock).value());
  PipelineOptions pipeline;
  pipeline.sources.state_dir = options.state_dir;
  PipelineModels models;
  models.extractor = make_builtin_extractor();
  models.graph = make_builtin_graph_extractor();
  s.pipeline = Pipeline::make(*s.store, s.clock, std::move(models), std::move(pipeline)).value();
  if (!s.pipeline->run_until_idle().ok()) throw std::runtime_error("the sample was not read");
  ServingParts parts;
  auto config = std::make_shared<Config>();
  config->timezone = "UTC";
  config->db_path = "/var/lib/clawmark.db";
  parts.config = config;
  parts.clock = &s.clock;
  parts.open_reader = [&s] { return Store::open_read_only(s.store->path()); };
  parts.bodies = &s.pipeline->bodies();
  s.serving = std::make_unique<Serving>(std::move(parts));
  HttpServerOptions server;
  server.socket_path = s.dir / "clawmark.sock";
  s.server =
      HttpServer::start(server, [this](const HttpCall& call) { return answer(call); }).value();
}

Sampled::~Sampled() {
  state_->server->stop();
}

HttpAnswer Sampled::answer(const HttpCall& call) {
  return answer_call(*state_->serving, call);
}
std::string Sampled::socket() const {
  return state_->dir / "clawmark.sock";
}
std::string Sampled::folder() const {
  return state_->dir.path();
}

Played::Played(Sampled& memory, tui::ModelOptions options)
    : memory_(memory), model_(std::move(options)) {
  answer_all(model_.start());
}

void Played::press(const std::string& key) {
  answer_all(model_.key(key_of(key)));
}

void Played::answer_all(std::vector<tui::Ask> asks) {
  while (!asks.empty()) {
    std::vector<tui::Ask> more;
    for (const tui::Ask& ask : asks) {
      const auto& [method, target, body] = ask.request;
      const HttpAnswer answer =
          memory_.answer({method, target, {}, method == "GET" ? std::string() : to_text(body)});
      for (auto& next : model_.answered(ask.id, parse_api_answer(answer.status, answer.body))) {
        more.push_back(std::move(next));
      }
    }
    asks = std::move(more);
  }
}

}  // namespace clawmark::support
