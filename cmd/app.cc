#include "cmd/app.h"

#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <filesystem>
#include <future>
#include <thread>

#include "base/files.h"
#include "base/logging.h"
#include "cmd/new_id.h"
#include "cmd/patience.h"
#include "cmd/pipeline_port.h"
#include "cmd/source_options.h"
#include "cmd/survey.h"
#include "cmd/unix_client.h"
#include "log/event_log.h"
#include "models/summary_targets.h"
#include "serve/api.h"
#include "serve/query_desk.h"
#include "workers/source_bodies.h"

namespace clawmark {
namespace {

constexpr std::int64_t kHealthMs = 3'000;
// Scripts and questions to a model may take a minute; what people ask must not wait for them.
constexpr std::size_t kSlowThreads = 6;
constexpr std::int64_t kStopMs = 1'500;

// Requests of the query path and of runs without a driver, on a thread of their own.
class NetThread {
 public:
  explicit NetThread(const TransportOptions& options)
      : guard_(boost::asio::make_work_guard(io_)), transport_(make_transport(io_, options)) {
    thread_ = std::thread([this] { io_.run(); });
  }
  ~NetThread() {
    transport_->cancel_all();
    guard_.reset();
    io_.stop();
    thread_.join();
  }
  Transport& transport() { return *transport_; }

  Result<HttpResponse> call(const HttpRequest& request) {
    auto promise = std::make_shared<std::promise<Result<HttpResponse>>>();
    auto future = promise->get_future();
    transport_->send(request,
                     [promise](Result<HttpResponse> got) { promise->set_value(std::move(got)); });
    return future.get();
  }

 private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  std::unique_ptr<Transport> transport_;
  std::thread thread_;
};

// Beside this program; empty when it is not there.
std::string repl_program() {
  std::error_code code;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code) return {};
  const std::string path = (self.parent_path() / "clawmark-repl").string();
  return ::access(path.c_str(), X_OK) == 0 ? path : std::string();
}

// "https://host:8443" of a URL, for Retry-After.
std::string origin_of(const std::string& url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return "";
  const auto end = url.find_first_of("/?#", scheme + 3);
  const std::string authority =
      url.substr(scheme + 3, end == std::string::npos ? end : end - scheme - 3);
  return url.substr(0, scheme + 3) + authority.substr(authority.rfind('@') + 1);
}

// A file that cannot be used is a problem of the configuration: the service stays up and says so.
std::shared_ptr<Embedder> make_own_embedder(Config& config) {
  if (config.encoder_file.empty()) return make_builtin_embedder();
  auto embedder = make_file_embedder(config.encoder_file);
  if (embedder.ok()) return std::move(embedder).value();
  config.problems.push_back(embedder.error().message);
  return make_builtin_embedder();
}

PipelineModels make_models(Config& config) {
  PipelineModels models;
  if (config.embedding_url.empty()) {
    models.embedder = make_own_embedder(config);
  } else {
    models.embedder = make_endpoint_embedder(
        {config.embedding_url, config.embedding_model, config.embedding_api_key,
         config.embedding_dim, config.embed_timeout_ms, config.ca_file, config.verify_tls});
    models.embed_origin = origin_of(config.embedding_url);
  }
  EndpointOptions asked{config.extract_url,        config.extract_model, config.extract_api_key, 0,
                        config.extract_timeout_ms, config.ca_file,       config.verify_tls};
  if (config.extract_url.empty()) {
    models.extractor = make_builtin_extractor();
  } else {
    models.extractor = make_endpoint_extractor(asked);
    models.extract_origin = origin_of(config.extract_url);
  }
  // The world model may have an endpoint and a model of its own.
  if (!config.summary_url.empty()) {
    asked.url = config.summary_url;
    asked.api_key = config.summary_api_key;
  }
  if (!config.summary_model.empty()) asked.model = config.summary_model;
  if (asked.url.empty()) {
    models.graph = make_builtin_graph_extractor();
  } else {
    models.graph =
        make_endpoint_graph_extractor(asked, static_cast<std::size_t>(config.leaf_target_tokens));
    models.summarizer =
        make_endpoint_summarizer(asked, static_cast<std::size_t>(config.condensed_target_tokens));
  }
  return models;
}

Retention retention_of(const std::string& name) {
  if (name == "verbatim") return Retention::kVerbatim;
  return name == "reference" ? Retention::kReference : Retention::kRewritten;  // auto
}

PipelineOptions pipeline_options(const Config& config, std::uint64_t seed) {
  PipelineOptions options;
  options.sources = source_options(config);
  options.retention = retention_of(config.retention);
  options.zone = config.timezone;
  options.idle_hours = config.idle_hours;
  // A built-in extractor looks at each message by itself; windows are for endpoints.
  if (!config.extract_url.empty()) {
    options.window_messages = static_cast<std::size_t>(config.extract_every_messages);
  }
  options.limits = {config.daily_tokens_max, config.daily_usd_max};
  options.prices = own_prices();
  options.confidence_threshold = config.confidence_threshold;
  options.seed = seed;
  options.large_file_tokens = static_cast<std::size_t>(config.large_file_tokens);
  options.leaf_target_tokens = static_cast<std::size_t>(config.leaf_target_tokens);
  options.condensed_target_tokens = static_cast<std::size_t>(config.condensed_target_tokens);
  options.leaf_chunk_tokens = static_cast<std::size_t>(config.leaf_chunk_tokens);
  if (!config.summary_url.empty()) options.graph_origin = origin_of(config.summary_url);
  return options;
}

// What differs from the defaults, once per configuration: `config.changed`.
NewEvent config_event(const Config& config, TimeMs now) {
  json::object changed;
  std::string all;
  for (const auto& [key, value] : show_config(config)) {
    all += key + "=" + value + "\n";
    if (config.origins.at(key) != "default") changed[key] = value;
  }
  NewEvent event;
  event.type = event_type::kConfigChanged;
  event.scope.agent = "main";
  event.dedupe_key = "config:" + to_hex(sha256(all)).substr(0, 16);
  event.occurred = now;
  event.payload = {{"changed", std::move(changed)}};
  return event;
}

// Before the first model is asked: what is waiting, and what it will cost about. At the first start
// nothing is known yet, so the host's own history is counted.
void announce_backlog(const Config& config, Pipeline& pipeline, bool is_first, const Clock& clock) {
  if (config.embedding_url.empty() && config.extract_url.empty()) return;
  const auto guess =
      is_first ? Result<BacklogEstimate>(survey_sources(config, clock).cost) : pipeline.estimate();
  if (!guess.ok()) return;
  char usd[32];
  std::snprintf(usd, sizeof usd, "%.2f", guess->usd);
  log_line(LogLevel::kNotice, "clawmarkd",
           (is_first ? "OpenClaw's history: " : "of what is known so far, ") +
               std::to_string(guess->messages_to_embed) + " messages wait for embedding and " +
               std::to_string(guess->messages_to_extract) + " for extraction: about " +
               std::to_string(guess->embed_tokens + guess->extract_tokens) + " tokens, " + usd +
               " USD; caps: daily_tokens_max, daily_usd_max");
}

}  // namespace

PriceTable own_prices() {
  const std::string path = join_path(home_dir(), ".config/clawmark/prices.json");
  auto own = read_prices(path);
  if (!own.ok()) {
    log_warning("clawmarkd", describe(own.error()) + "; list prices count");
    return {};
  }
  return std::move(own).value();
}

struct App::State {
  explicit State(const Config& c) : config(c), net({c.ca_file, c.verify_tls}) {}

  Config config;
  SystemClock clock;
  NetThread net;
  std::unique_ptr<Store> store;
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<PipelinePort> port;
  // Serving reads texts on its own thread: it has its own resolver.
  std::unique_ptr<SourceBodies> bodies_source;
  std::unique_ptr<BodyStore> bodies;
  std::shared_ptr<Embedder> embedder;
  std::unique_ptr<Serving> serving;
  Door* door = nullptr;  // once started

  void make_serving();
  bool inert() const { return !config.problems.empty(); }
};

void App::State::make_serving() {
  bodies_source = std::make_unique<SourceBodies>(
      [options = source_options(config), this] { return discover_sources(options, clock); }, clock);
  bodies = std::make_unique<BodyStore>(Retention::kReference, bodies_source.get());
  ServingParts parts;
  parts.config = std::make_shared<const Config>(config);
  parts.clock = &clock;
  parts.version = CLAWMARK_VERSION;
  parts.open_reader = [path = store->path()] { return Store::open_read_only(path); };
  parts.bodies = bodies.get();
  parts.embedder = embedder.get();
  parts.transport = &net.transport();
  parts.writer = port.get();
  parts.new_id = new_id;
  parts.repl_program = repl_program();
  parts.desk = std::make_shared<QueryDesk>(query_settings(config, system_environment()),
                                           net.transport(), *port, clock);
  serving = std::make_unique<Serving>(std::move(parts));
}

App::App(std::unique_ptr<State> state) : state_(std::move(state)) {}
App::~App() {
  stop();
}

Result<std::unique_ptr<App>> App::open(const Config& config, std::string_view holder) {
  auto state = std::make_unique<State>(config);
  State& s = *state;
  StoreOptions options;
  options.path = config.db_path;
  options.holder = std::string(holder) + " pid " + std::to_string(::getpid()) + " since " +
                   format_iso(s.clock.now());
  CLAWMARK_ASSIGN(Store store, Store::open(options, s.clock));
  s.store = std::make_unique<Store>(std::move(store));
  PipelineModels models = make_models(s.config);
  s.embedder = models.embedder;
  const auto seed = fnv1a(s.store->origin()) ^ static_cast<std::uint64_t>(::getpid());
  CLAWMARK_ASSIGN(s.pipeline, Pipeline::make(*s.store, s.clock, std::move(models),
                                             pipeline_options(config, seed)));
  s.port = std::make_unique<PipelinePort>(
      *s.pipeline, s.clock, [&s](const HttpRequest& request) { return s.net.call(request); });
  s.make_serving();
  return std::unique_ptr<App>(new App(std::move(state)));
}

Status App::start(Door& door) {
  State& s = *state_;
  if (!s.inert()) {
    CLAWMARK_ASSIGN(const Seq head, EventLog::head(s.store->db()));
    const NewEvent event = config_event(s.config, s.clock.now());
    CLAWMARK_TRY(s.pipeline->append_now({&event, 1}));
    announce_backlog(s.config, *s.pipeline, head.value == 0, s.clock);
    s.pipeline->start({s.config.ca_file, s.config.verify_tls});
    if (s.serving->index) s.serving->index->start();
  }
  HttpServerOptions options;
  options.socket_path = s.config.socket;
  options.is_slow = is_slow_target;
  options.slow_threads = kSlowThreads;
  options.stop_ms = kStopMs;
  CLAWMARK_TRY(
      door.open(options, [&s](const HttpCall& call) { return answer_call(*s.serving, call); }));
  s.door = &door;
  return Ok{};
}

void App::stop() {
  State& s = *state_;
  std::thread last_answers([&s] {
    if (s.door != nullptr) s.door->close();
  });
  s.net.transport().cancel_all();
  if (s.pipeline) s.pipeline->stop();
  last_answers.join();
  s.door = nullptr;
}

bool App::beats(std::int64_t within_ms) {
  State& s = *state_;
  if (s.pipeline->running() && !s.port->is_busy() && s.pipeline->beat_age_ms() > within_ms) {
    log_error("clawmarkd",
              "the writer has not moved for " + std::to_string(s.pipeline->beat_age_ms()) + " ms");
    return false;
  }
  if (s.door == nullptr) return true;
  // Any answer will do: 503 says that something is wrong, and says it.
  const auto answer = unix_request(s.config.socket, "GET", "/healthz", "", kHealthMs);
  if (!answer) log_error("clawmarkd", "the socket does not answer: " + answer.error().message);
  return answer.ok();
}

void App::look_now() {
  state_->pipeline->notify();
}

Result<DrainReport> App::run_once(const std::function<bool()>& slice) {
  State& s = *state_;
  OnceOptions once;
  once.call = [&s](const HttpRequest& request) { return s.net.call(request); };
  once.slice = slice;
  return s.pipeline->run_until_idle(once);
}

HttpAnswer App::answer(const HttpCall& call) {
  State& s = *state_;
  // Without threads the index is built for the question; the daemon keeps it up to date.
  if (s.serving->index && !s.pipeline->running() && !s.inert()) {
    if (const auto status = s.serving->index->refresh(); !status.ok()) {
      log_warning("index", describe(status.error()));
    }
  }
  return s.pipeline->running() ? answer_call(*s.serving, call) : answer_patiently(*s.serving, call);
}

Serving& App::serving() {
  return *state_->serving;
}
Pipeline& App::pipeline() {
  return *state_->pipeline;
}
const std::vector<std::string>& App::problems() const {
  return state_->config.problems;
}

}  // namespace clawmark
