#include "world.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/hash.h"
#include "base/utf8.h"
#include "projections/graph_projection.h"
#include "projections/history.h"
#include "projections/rebuild.h"
#include "projections/search.h"
#include "sources/text_cleaner.h"
#include "test_paths.h"
#include "workers/history_state.h"

namespace clawmark {
namespace {

Store open_store(const std::string& path, const Clock& clock) {
  StoreOptions options;
  options.path = path;
  options.holder = "test";
  return must(Store::open(options, clock));
}

}  // namespace

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "clawmark-serve-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}
TempDir::~TempDir() {
  std::filesystem::remove_all(path_);
}

Result<std::vector<Vector>> WordEmbedder::embed_local(std::span<const std::string> texts) {
  std::vector<Vector> out;
  for (const std::string& text : texts) {
    Vector vector(64);
    for (const std::string& token : search_tokens(text)) {
      if (is_stop_word(token)) continue;
      const auto synonym = synonyms.find(token);
      const std::string& word = synonym == synonyms.end() ? token : synonym->second;
      for (int k = 0; k < 3; ++k) {
        const std::uint64_t hash = fnv1a(word + std::to_string(k));
        vector[(hash >> 8) % 64] += (hash & 1) != 0 ? 1.F : -1.F;
      }
    }
    if (zero) vector.assign(64, 0.F);
    float length = 0;
    for (const float x : vector) length += x * x;
    for (float& x : vector) x = length > 0 ? x / std::sqrt(length) : 0;
    out.push_back(std::move(vector));
  }
  return out;
}

Result<EmbedAnswer> WordEmbedder::interpret(const Result<HttpResponse>& response, std::size_t) {
  if (!response.ok()) return response.error();
  return make_error(ErrorKind::kRetriable, "embed", "http_503", "no answer");
}

World::World(Retention retention)
    : store(open_store(dir.file("clawmark.db"), clock)),
      bodies(retention, nullptr),
      config(std::make_shared<Config>()),
      last_(clock.now()) {
  config->timezone = "UTC";
  projections.push_back(make_facts_projection({}));
  projections.push_back(make_messages_projection());
  projections.push_back(make_graph_projection());
  projections.push_back(make_search_projection(bodies, presentable_text));
  projections.push_back(make_history_projection(bodies, presentable_text));
  must(register_search(store.db()));
  std::vector<Projection*> all;
  for (const auto& projection : projections) all.push_back(projection.get());
  must(ensure_projections(store.db(), all));
  ServingParts parts;
  parts.config = config;
  parts.clock = &clock;
  parts.version = "0.1.0-test";
  parts.open_reader = [path = dir.file("clawmark.db")] { return Store::open_read_only(path); };
  parts.bodies = &bodies;
  parts.embedder = &embedder;
  parts.writer = this;
  parts.new_id = [this] { return "id-" + std::to_string(++ids_); };
  parts.repl_program = CLAWMARK_BIN_DIR "/clawmark-repl";
  serving = std::make_unique<Serving>(std::move(parts));
}

World::~World() {
  serving.reset();
}

void World::fold() {
  for (const auto& projection : projections) {
    const int generation = must(live_generation(store.db(), projection->name()));
    while (must(fold_step(store.db(), *projection, generation, 500, clock.now())) > 0) {
    }
  }
}

Seq World::say(Said said) {
  if (said.at.value == 0) said.at = {last_.value + kMinuteMs};
  last_ = std::max(last_, said.at);
  const Hash256 hash = sha256(said.text);
  const std::string entry = "00000000-0000-4000-8000-" + std::to_string(100000000000 + ++said_);
  NewEvent event;
  event.type = event_type::kMessageObserved;
  const SessionKey key = parse_session_key(said.session_key);
  const bool person = said.role == "user";
  event.scope = {key.agent.empty() ? "main" : key.agent, said.session_key, key.lane,
                 person ? said.sender : ""};
  event.dedupe_key = "msg:" + event.scope.agent + ":" + entry;
  event.occurred = said.at;
  event.payload = {{"entry_id", entry},
                   {"session_id", said.session_id},
                   {"session_key", said.session_key},
                   {"role", said.role},
                   {"class", said.entry_class},
                   {"noise", said.noise},
                   {"speaker", person ? said.speaker : ""},
                   {"sender_is_owner", said.owner},
                   {"bytes", said.text.size()},
                   {"sha256", to_hex(hash)},
                   {"chars", count_code_points(said.text)},
                   {"carrier", "agent-db"},
                   {"position", said_}};
  if (const auto parent = last_in_session_.find(said.session_id);
      parent != last_in_session_.end()) {
    event.payload["parent"] = parent->second.value;
  }
  Seq seq;
  {
    auto txn = must(Transaction::begin(store.db()));
    seq = must(store.log().append(txn, event)).head;
    must(bodies.put(txn, hash, said.text));
    must(txn.commit());
  }
  last_in_session_[said.session_id] = seq;
  fold();
  return seq;
}

Seq World::say_tool(const std::string& output) {
  Said said;
  said.text = output;
  said.role = "tool";
  said.entry_class = "toolResult";
  return say(std::move(said));
}

void World::append(NewEvent event) {
  if (event.occurred.value == 0) event.occurred = clock.now();
  auto txn = must(Transaction::begin(store.db()));
  must(store.log().append(txn, event));
  must(txn.commit());
  fold();
}

void World::state(const std::string& holder, const std::string& key, const std::string& value,
                  const std::string& subject) {
  NewEvent event;
  event.type = event_type::kFactStated;
  event.scope = {"main", "", Lane::kDirect, ""};
  event.dedupe_key = "stated:" + std::to_string(++ids_);
  event.payload = {{"key", key},         {"value", value},   {"holder", holder},
                   {"subject", subject}, {"source", "user"}, {"confidence", 1.0},
                   {"by", "cli"}};
  append(std::move(event));
}

void World::conclude(const std::string& holder, const std::string& key, const std::string& value,
                     Seq evidence, double confidence) {
  NewEvent event;
  event.type = event_type::kExtractionCompleted;
  event.scope = {"main", "", Lane::kDirect, ""};
  event.dedupe_key = "extract:test:1:" + std::to_string(++ids_);
  event.occurred = last_;
  json::object fact{{"key", key},
                    {"value", value},
                    {"confidence", confidence},
                    {"subject", ""},
                    {"holder", holder},
                    {"verified", true},
                    {"why", ""},
                    {"observed_ms", last_.value},
                    {"due_ms", 0}};
  fact["evidence"] = json::array{json::object{{"message", evidence.value}, {"quote", value}}};
  event.payload = {{"session_id", "s1"},
                   {"first", evidence.value},
                   {"last", evidence.value},
                   {"messages", json::array{evidence.value}},
                   {"model", "test"},
                   {"prompt_version", "1"},
                   {"dropped", 0}};
  event.payload["facts"] = json::array{std::move(fact)};
  append(std::move(event));
}

void World::embed_all() {
  Database& db = store.db();
  must(db.run("INSERT OR IGNORE INTO embedding_models(name, dims, first_ms) VALUES(?, 64, 0)",
              embedder.name));
  const auto model =
      must(db.query_int("SELECT id FROM embedding_models WHERE name = ?", embedder.name));
  const auto head = must(EventLog::head(db));
  for (Seq seq{1}; seq <= head; ++seq.value) {
    const Body body = must(bodies.get_one(db, seq));
    if (body.state == BodyState::kGone) continue;
    const std::string text = presentable_text(body.text);
    const std::vector<std::string> texts = {text};
    const Vector vector = must(embedder.embed_local(texts)).front();
    float peak = 1e-20F;
    for (const float x : vector) peak = std::max(peak, std::fabs(x));
    std::vector<std::uint8_t> codes;
    for (const float x : vector) {
      codes.push_back(
          static_cast<std::uint8_t>(static_cast<std::int8_t>(std::lrintf(x / peak * 127.F))));
    }
    const Hash256 hash = sha256(text);
    must(
        db.run("INSERT OR IGNORE INTO chunks(message, ordinal, hash, start, length)"
               " VALUES(?, 0, ?, 0, ?)",
               seq.value, hash, text.size()));
    must(db.run("INSERT OR IGNORE INTO vectors(model, hash, scale, vector) VALUES(?, ?, ?, ?)",
                *model, hash, static_cast<double>(peak / 127.F),
                std::span<const std::uint8_t>(codes)));
  }
  must(serving->index->refresh());
}

Status World::submit(std::vector<NewEvent> events) {
  const std::lock_guard lock(mutex_);
  if (writer_fails) return make_error(ErrorKind::kRetriable, "sqlite", "full", "the disk is full");
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  CLAWMARK_TRY(store.log().append(txn, events));
  CLAWMARK_TRY(txn.commit());
  fold();
  return Ok{};
}

Result<ReconcileAnswer> World::reconcile(bool, std::int64_t) {
  ++reconciled;
  return reconcile_answer;
}

void World::notify(const Caller& caller, std::string_view kind) {
  notified.push_back(std::string(kind) + " " + caller.session_key);
}

Result<json::object> World::run(std::string_view command, const json::object& params) {
  if (is_history_command(command)) {
    const std::lock_guard lock(mutex_);
    return run_history_command(store.db(), command, params, clock.now());
  }
  return json::object{{"ran", command}};
}

json::object World::caller(const std::string& session_key, const std::string& sender,
                           const std::string& session_id) {
  json::object out{{"agent", "main"}, {"session_id", session_id}, {"trigger", "user"}};
  if (!session_key.empty()) out["session_key"] = session_key;
  if (!sender.empty()) out["sender_id"] = sender;
  const SessionKey key = parse_session_key(session_key);
  if (!key.channel.empty()) out["channel"] = key.channel;
  return out;
}

json::object World::post(const std::string& path, const json::object& body, int status) {
  const HttpAnswer answer = answer_call(*serving, {"POST", path, {}, to_text(body)});
  EXPECT_EQ(answer.status, status) << path << " " << answer.body;
  auto parsed = must(parse_json(answer.body));
  EXPECT_EQ(get_int(parsed.as_object(), "protocol"), 1);
  return parsed.as_object();
}

json::object World::tool(const std::string& name, const json::object& who,
                         const json::object& params) {
  return post("/v1/tools/" + name, {{"caller", who}, {"params", params}});
}

json::object World::inject(const json::object& who, const std::string& prompt,
                           std::optional<json::object> window, int budget) {
  json::object body{{"caller", who}, {"prompt", prompt}, {"budget_chars", budget}};
  if (window) body["window"] = *window;
  return post("/v1/inject", body);
}

std::size_t chars(const json::value& text) {
  return count_code_points(view(text.as_string()));
}

std::string text_of(const json::object& answer, std::string_view key) {
  return get_string(answer, key);
}

bool holds(const json::object& answer, std::string_view needle) {
  return to_text(answer).find(needle) != std::string::npos;
}

}  // namespace clawmark
