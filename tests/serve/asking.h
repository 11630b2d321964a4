#pragma once
// A world with a model that can be asked: the desk, and the provider as a script.

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "providers.h"
#include "serve/query_desk.h"
#include "serve/tool_repl.h"
#include "world.h"

namespace clawmark {

inline const json::object kAda = World::caller("agent:main:telegram:direct:101", "101", "s1");

class Net {
 public:
  Net() : guard_(io_.get_executor()), transport_(make_transport(io_, {})) {
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Net() {
    transport_->cancel_all();
    guard_.reset();
    io_.stop();
    thread_.join();
  }
  Transport& transport() { return *transport_; }

 private:
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  std::unique_ptr<Transport> transport_;
  std::thread thread_;
};

struct Row {
  const char* name;
  const char* model;
  const char* base;        // behind the server's address
  std::int64_t micro_usd;  // of 900 in and 30 out
};
inline const Row kRows[] = {{"anthropic", "claude-haiku-4-5", "", 1050},
                            {"openai", "gpt-4o-mini", "", 153},
                            {"google", "gemini-2.5-flash", "/v1beta", 345},
                            {"openrouter", "anthropic/claude-haiku-4.5", "/api", 12300},
                            {"compatible", "qwen", "/v1", 0}};  // on this machine

inline ScriptAnswer speak(const std::string& provider, const ScriptRequest& request,
                          const ProviderSays& said) {
  if (provider == "anthropic") return anthropic(request, said);
  if (provider == "google") return google(request, said);
  if (provider == "openrouter") return openai(request, said, true, "/api/v1/chat/completions");
  return openai(request, said, false, "/v1/chat/completions");
}

inline QuerySettings settings_of(const std::map<std::string, std::string>& environment) {
  return query_settings(load_config({.file = {}, .environment = environment, .flags = {}}),
                        environment);
}

inline QuerySettings settings_for(const Row& row, const std::string& url) {
  return settings_of({{"RC_PROVIDER", row.name},
                      {"RC_API_KEY", "k-test"},
                      {"RC_MODEL", row.model},
                      {"RC_URL", url + row.base},
                      {"RC_QUERY_TIMEOUT_MS", "20000"}});
}

struct Asking {
  explicit Asking(ScriptServer::Script script, const Row& row = kRows[0])
      : server(std::move(script)), settings(settings_for(row, server.url())) {}
  QueryDesk& desk() {
    if (!made) made = std::make_shared<QueryDesk>(settings, net.transport(), world, world.clock);
    return *made;
  }
  Question question(const std::string& text = "Which provider?") {
    return {"main\nkey\nada", {"You answer.", text}, "", 0};
  }
  std::int64_t spent(const char* column) {
    return must(world.store.db().query_int(std::string("SELECT sum(") + column +
                                           ") FROM query_turns"))
        .value_or(0);
  }
  World world;
  ScriptServer server;
  Net net;
  QuerySettings settings;
  std::shared_ptr<QueryDesk> made;
};

struct Asked : Asking {
  explicit Asked(ScriptServer::Script script) : Asking(std::move(script)) {
    first = world.say({.text = "We chose Stripe as the payment provider"});
    second = world.say({.text = "Changed: Mollie replaces Stripe as the payment provider"});
    world.say({.text = "The cat sleeps on the sofa"});
    make_desk();
  }
  // Once more, with the settings as they are now.
  void make_desk() {
    ServingParts parts;
    parts.config = world.config;
    parts.clock = &world.clock;
    parts.open_reader = [path = world.dir.file("clawmark.db")] {
      return Store::open_read_only(path);
    };
    parts.bodies = &world.bodies;
    parts.writer = &world;
    parts.new_id = [] { return std::string("id"); };
    parts.repl_program = world.serving->repl_program;
    made.reset();
    (void)desk();
    parts.desk = made;
    world.serving = std::make_unique<Serving>(std::move(parts));
  }
  Seq first, second;
};

}  // namespace clawmark
