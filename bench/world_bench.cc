// Method. A world of N things and 5 N relations between them is written as graph.completed events
// (100 things and 500 relations each, said in 20 messages over a year; one end of a relation is
// drawn with a strong preference for few things, as in real work), folded by the projection in
// batches of 100 events, then asked: restore, restore with a focus, one thing, and walks of depth
// 2 from things at random and from the ones with the most relations. Each question is asked 300
// times through the same path as the tools'.

#include <CLI/CLI.hpp>
#include <cstring>
#include <random>

#include "bench/figures.h"
#include "log/event_log.h"
#include "log/graph_events.h"
#include "log/store.h"
#include "projections/graph_projection.h"
#include "projections/rebuild.h"
#include "serve/admin.h"
#include "serve/serving.h"
#include "tests/support/store_builder.h"

namespace clawmark::bench {
namespace {

constexpr TimeMs kNow{1'795'262'400'000};
constexpr std::size_t kThings = 100, kRelations = 500, kMessages = 20;  // of one event
constexpr char kHolder[] = "person:telegram:101";
constexpr const char* kTypes[] = {"component", "decision", "task",    "person",
                                  "file",      "concept",  "project", "constraint"};
constexpr const char* kEdges[] = {"DEPENDS_ON", "AFFECTS", "REFERENCES", "IMPLEMENTS",
                                  "BLOCKED_BY"};
constexpr const char* kStatuses[] = {"active", "blocked", "pending", "done", "cancelled"};

struct Thing {
  std::string type, name;
};
Thing thing(std::size_t n) {
  const char* type = kTypes[n % std::size(kTypes)];
  return {type, std::string(type) + " " + std::to_string(n)};
}

void status(Status done) {
  if (done.ok()) return;
  std::fprintf(stderr, "bench: %s\n", describe(done.error()).c_str());
  std::exit(1);
}

json::object item(std::mt19937_64& random, std::int64_t first_message) {
  const auto message = first_message + static_cast<std::int64_t>(random() % kMessages);
  return {{"holder", kHolder},
          {"verified", true},
          {"confidence", 0.9},
          {"evidence", json::array{json::object{{"message", message}, {"quote", "it was said"}}}}};
}

std::vector<NewEvent> messages_of(std::size_t event, std::size_t events) {
  std::vector<NewEvent> out;
  for (std::size_t n = 0; n < kMessages; ++n) {
    const std::size_t number = event * kMessages + n;
    NewEvent said;
    said.type = event_type::kMessageObserved;
    said.scope = {"main", "agent:main:telegram:direct:101", Lane::kDirect, "telegram:101"};
    said.dedupe_key = "msg:main:" + std::to_string(number);
    said.occurred = {kNow.value - 365 * kDayMs +
                     static_cast<std::int64_t>(number * 365 / (events * kMessages)) * kDayMs};
    said.payload = {{"entry_id", "e" + std::to_string(number)},
                    {"session_id", "s" + std::to_string(event)},
                    {"session_key", "agent:main:telegram:direct:101"},
                    {"role", "user"},
                    {"class", "chat"},
                    {"noise", ""},
                    {"speaker", "Ada"}};
    out.push_back(std::move(said));
  }
  return out;
}

NewEvent understood(std::mt19937_64& random, std::size_t event, std::size_t things,
                    std::int64_t first_message) {
  json::array nodes, edges, episodes;
  for (std::size_t n = 0; n < kThings; ++n) {
    const Thing one = thing(event * kThings + n);
    json::object node = item(random, first_message);
    node["type"] = one.type;
    node["name"] = one.name;
    node["description"] = "What is known of " + one.name + ".";
    if (one.type == "task") node["status"] = kStatuses[random() % std::size(kStatuses)];
    nodes.push_back(std::move(node));
  }
  for (std::size_t n = 0; n < kRelations; ++n) {
    const double u = static_cast<double>(random() % 1'000'000) / 1e6;
    const Thing from = thing(random() % things);
    const Thing to = thing(static_cast<std::size_t>(u * u * u * static_cast<double>(things - 1)));
    json::object edge = item(random, first_message);
    edge["type"] = kEdges[random() % std::size(kEdges)];
    edge["from_type"] = from.type;
    edge["from"] = from.name;
    edge["to_type"] = to.type;
    edge["to"] = to.name;
    edges.push_back(std::move(edge));
  }
  json::object episode = item(random, first_message);
  episode["type"] = "decision";
  episode["title"] = "Decided number " + std::to_string(event);
  episode["salience"] = 0.8;
  episodes.push_back(std::move(episode));
  NewEvent out;
  out.type = event_type::kGraphCompleted;
  out.scope.agent = "main";
  out.dedupe_key = "graph:" + std::to_string(event);
  out.occurred = kNow;
  out.payload = {{"session_id", "s" + std::to_string(event)},
                 {"messages", json::array{}},
                 {"nodes", std::move(nodes)},
                 {"edges", std::move(edges)},
                 {"episodes", std::move(episodes)}};
  return out;
}

void fold_all(Store& store, Projection& projection) {
  const int generation = must(live_generation(store.db(), projection.name()));
  while (must(fold_step(store.db(), projection, generation, 100, kNow)) > 0) {
  }
}

void run(std::size_t things) {
  support::TempDir dir;
  ManualClock clock{kNow};
  StoreOptions where;
  where.path = dir / "clawmark.db";
  Store store = must(Store::open(where, clock));
  const auto graph = make_graph_projection(), messages = make_messages_projection();
  const auto facts = make_facts_projection({});
  Projection* list[] = {messages.get(), facts.get(), graph.get()};
  status(ensure_projections(store.db(), list));

  std::mt19937_64 random(20261121);
  const std::size_t events = things / kThings;
  for (std::size_t event = 0; event < events; ++event) {
    auto txn = must(Transaction::begin(store.db()));
    const std::int64_t first = must(EventLog::head(store.db())).value + 1;
    must(store.log().append(txn, messages_of(event, events)));
    must(store.log().append(txn, understood(random, event, things, first)));
    status(txn.commit());
  }
  fold_all(store, *messages);
  fold_all(store, *facts);
  Times fold;
  fold.measure([&] { fold_all(store, *graph); });
  const double seconds = fold.wall(0.5) / 1e3;
  const auto edges = must(store.db().query_int("SELECT count(*) FROM graph_edges")).value_or(0);
  std::printf("%zu things, %lld relations: folded in %.1f s, %.0f statements/s, %.0f events/s\n",
              things, static_cast<long long>(edges), seconds,
              static_cast<double>(events * (kThings + kRelations + 1)) / seconds,
              static_cast<double>(events * (kMessages + 1)) / seconds);

  ServingParts parts;
  auto config = std::make_shared<Config>();
  config->timezone = "UTC";
  parts.config = config;
  parts.clock = &clock;
  parts.open_reader = [&] { return Store::open_read_only(store.path()); };
  BodyStore bodies(Retention::kReference, nullptr);
  parts.bodies = &bodies;
  Serving serving(std::move(parts));
  auto lease = must(serving.readers.lease());
  const auto ask = [&](const char* name, const char* command, const auto& params_of) {
    Times times;
    for (int n = 0; n < 300; ++n) {
      json::object params = params_of(n);
      params["agent"] = "main";  // a tool's caller comes with them
      params["as"] = "telegram:101";
      times.measure([&] { must(run_admin(serving, *lease, command, params)); });
    }
    std::printf("  %-34s %s\n", name, times.text().c_str());
  };
  const auto walk = [&](std::size_t n) {
    return json::object{{"action", "traverse"}, {"name", thing(n).name}, {"depth", 2}};
  };
  ask("restore", "restore", [](int) { return json::object{}; });
  ask("restore with a focus", "restore",
      [&](int) { return json::object{{"focus", thing(random() % things).name}}; });
  ask("one thing", "graph", [&](int) {
    return json::object{{"action", "node"}, {"name", thing(random() % things).name}};
  });
  ask("walk of depth 2, anywhere", "graph", [&](int) { return walk(random() % things); });
  ask("walk of depth 2, best connected", "graph",
      [&](int n) { return walk(static_cast<std::size_t>(n) % 100); });
  std::printf("  resident %.0f MB\n", resident_mb());
}

}  // namespace
}  // namespace clawmark::bench

int main(int argc, char** argv) {
  CLI::App app("The world model at a size: folds, restore, walks");
  std::vector<std::size_t> sizes{100'000};
  app.add_option("things", sizes, "how many things, a run for each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (const std::size_t size : sizes) clawmark::bench::run(size);
  return 0;
}
