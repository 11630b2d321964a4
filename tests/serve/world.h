#pragma once
// A small world to serve from: a real store with real projections, people who say things, and a
// writer that appends and folds at once.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "log/store.h"
#include "projections/projection.h"
#include "serve/api.h"
#include "serve/serving.h"

namespace clawmark {

class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << describe(result.error());
    std::abort();
  }
  return std::move(result).value();
}

// Words as hashed directions; words of one group (synonyms) point the same way.
class WordEmbedder final : public Embedder {
 public:
  std::map<std::string, std::string> synonyms;
  std::string name = "builtin-words";
  bool local = true;
  bool zero = false;  // every text gets a vector at right angles to every other

  ModelId model() const override { return {name, 64}; }
  bool is_local() const override { return local; }
  std::size_t batch_max() const override { return 100; }
  Result<std::vector<Vector>> embed_local(std::span<const std::string> texts) override;
  HttpRequest plan(std::span<const std::string>) const override { return {}; }
  Result<EmbedAnswer> interpret(const Result<HttpResponse>& response, std::size_t) override;
  std::size_t text_bytes_max() const override { return 4000; }
};

struct Said {
  std::string text;
  std::string session_key = "agent:main:telegram:direct:101";
  std::string session_id = "s1";
  std::string sender = "telegram:101";
  std::string speaker = "Ada";
  std::string role = "user";
  std::string entry_class = "chat";
  std::string noise = {};
  TimeMs at{0};  // zero: a minute after the last
  bool owner = false;
};

class World : public WriterPort {
 public:
  explicit World(Retention retention = Retention::kVerbatim);
  ~World() override;

  Seq say(Said said);
  Seq say_tool(const std::string& output);  // a tool's result, in Ada's session
  // States a fact as the log would hold it.
  void state(const std::string& holder, const std::string& key, const std::string& value,
             const std::string& subject = "");
  void conclude(const std::string& holder, const std::string& key, const std::string& value,
                Seq evidence, double confidence = 0.9);
  void append(NewEvent event);
  void embed_all();  // chunks and vectors of all messages; then the index looks
  void fold();

  json::object post(const std::string& path, const json::object& body, int status = 200);
  json::object tool(const std::string& name, const json::object& caller,
                    const json::object& params);
  json::object inject(const json::object& caller, const std::string& prompt,
                      std::optional<json::object> window = json::object{{"count", 0}},
                      int budget = 12000);
  static json::object caller(const std::string& session_key, const std::string& sender = "",
                             const std::string& session_id = "now");

  // WriterPort
  Status submit(std::vector<NewEvent> events) override;
  Result<ReconcileAnswer> reconcile(bool drain, std::int64_t wait_ms) override;
  std::vector<WorkerState> workers() override { return worker_states; }
  void notify(const Caller& caller, std::string_view kind) override;
  Result<json::object> run(std::string_view command, const json::object& params) override;

  TempDir dir;
  ManualClock clock;
  Store store;
  BodyStore bodies;
  WordEmbedder embedder;
  std::vector<std::unique_ptr<Projection>> projections;
  std::vector<WorkerState> worker_states;
  std::vector<std::string> notified;
  bool writer_fails = false;
  ReconcileAnswer reconcile_answer;
  int reconciled = 0;  // times asked
  std::shared_ptr<Config> config;
  std::unique_ptr<Serving> serving;

 private:
  std::mutex mutex_;
  int ids_ = 0;
  int said_ = 0;
  std::map<std::string, Seq> last_in_session_;
  TimeMs last_;
};

std::size_t chars(const json::value& text);
std::string text_of(const json::object& answer, std::string_view key);
bool holds(const json::object& answer, std::string_view needle);  // anywhere in it

}  // namespace clawmark
