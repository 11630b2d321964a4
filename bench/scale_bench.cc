// Method. N messages of 8 to 40 words are drawn with a seed from 60,000 made-up words whose
// frequencies follow Zipf's law, two sides in turn, 250 a session, and written as transcripts. Then
//   1. a child process reads and derives everything with the built-in models (messages/s), writes
//      the snapshot of its vector index, and is killed with SIGKILL;
//   2. this process opens the same store: time until the first prompt is answered, and until the
//      vectors are there too;
//   3. 300 prompts of 4 to 10 words of some message are asked for what they would get, and searched
//      for; the same words go to a plain FTS5 table (porter, unicode61) of the same texts, joined
//      by OR, ordered by bm25(), limit 10.
// Memory is this process's, sizes are of files.

#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <random>

#include "base/files.h"
#include "bench/figures.h"
#include "cmd/app.h"
#include "serve/inject.h"
#include "tests/support/store_builder.h"

namespace clawmark::bench {
namespace {

constexpr std::size_t kWords = 60'000, kPerSession = 250;
constexpr int kPrompts = 300;

class Talk {
 public:
  Talk() {
    const char* const syllables[] = {"ba",  "ko",  "ri", "ten", "mu",  "sal", "dor", "ne",
                                     "pli", "gra", "vo", "hes", "tur", "am",  "il",  "ock"};
    double sum = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
      std::string word;
      for (std::size_t rest = i + 16; rest > 0; rest /= 16) word += syllables[rest % 16];
      words_.push_back(word);
      sum += 1.0 / static_cast<double>(i + 30);
      reach_.push_back(sum);
    }
  }
  const std::string& word() {
    const double at = uniform_(random_) * reach_.back();
    return words_[static_cast<std::size_t>(std::lower_bound(reach_.begin(), reach_.end(), at) -
                                           reach_.begin())];
  }
  std::string text(std::size_t least, std::size_t most) {
    std::string out;
    const std::size_t count = least + random_() % (most - least + 1);
    for (std::size_t i = 0; i < count; ++i) out.append(i == 0 ? "" : " ").append(word());
    return out;
  }
  std::mt19937_64& random() { return random_; }

 private:
  std::vector<std::string> words_;
  std::vector<double> reach_;
  std::mt19937_64 random_{11};
  std::uniform_real_distribution<double> uniform_;
};

struct Corpus {
  std::vector<std::string> prompts;
  std::string plain_fts;  // path of the plain table
};

std::string first_words(Talk& talk, const std::string& text) {
  const std::size_t wanted = 4 + talk.random()() % 7;
  std::size_t at = 0;
  for (std::size_t n = 0; n < wanted && at != std::string::npos; ++n) at = text.find(' ', at + 1);
  return text.substr(0, at);
}

std::string line_of(std::size_t number, const std::string& role, const std::string& text,
                    std::int64_t ms) {
  char id[16], parent[16];
  std::snprintf(id, sizeof id, "%08zx", number + 1);
  std::snprintf(parent, sizeof parent, "%08zx", number);
  json::object message{{"role", role},
                       {"content", json::array{json::object{{"type", "text"}, {"text", text}}}},
                       {"timestamp", ms}};
  json::object entry{{"type", "message"}, {"id", id}, {"timestamp", format_iso({ms})}};
  if (number % kPerSession == 0) {
    entry["parentId"] = nullptr;
  } else {
    entry["parentId"] = parent;
  }
  entry["message"] = std::move(message);
  return to_text(entry) + "\n";
}

Corpus write_corpus(const std::string& dir, std::size_t messages) {
  Corpus corpus;
  corpus.plain_fts = dir + "/plain.db";
  ::unlink(corpus.plain_fts.c_str());
  sqlite3* db = nullptr;
  sqlite3_open(corpus.plain_fts.c_str(), &db);
  sqlite3_exec(db,
               "PRAGMA synchronous=OFF; CREATE VIRTUAL TABLE plain USING fts5(body, "
               "tokenize='porter unicode61'); BEGIN",
               nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO plain(body) VALUES(?1)", -1, &insert, nullptr);
  Talk talk;
  support::TranscriptWriter files(dir + "/state", "main");
  support::Ids ids(3);
  json::object index;
  std::string file, session_id;
  std::int64_t ms = 1'700'000'000'000;
  for (std::size_t i = 0; i < messages; ++i) {
    if (i % kPerSession == 0) {
      session_id = ids.uuid();
      file = to_text(json::object{{"type", "session"},
                                  {"version", 3},
                                  {"id", session_id},
                                  {"timestamp", format_iso({ms})},
                                  {"cwd", "/home/user"}}) +
             "\n";
      index["agent:main:dashboard:" + std::to_string(i)] = json::object{{"sessionId", session_id}};
    }
    const std::string text = talk.text(8, 40);
    file += line_of(i, i % 2 == 0 ? "user" : "assistant", text, ms);
    ms += 30'000;
    sqlite3_bind_text(insert, 1, text.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_step(insert);
    sqlite3_reset(insert);
    if (i % (messages / kPrompts) == 0) corpus.prompts.push_back(first_words(talk, text));
    if (i + 1 == messages || (i + 1) % kPerSession == 0) {
      support::write_text(files.path(session_id), file);
    }
  }
  support::write_text(files.folder() + "/sessions.json", to_text(index));
  sqlite3_finalize(insert);
  sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  return corpus;
}

double megabytes(const std::string& path) {
  const auto info = stat_file(path);
  return info ? static_cast<double>(info->size) / 1e6 : 0;
}

Config config_of(const std::string& dir) {
  return load_config({{}, {{"HOME", dir}, {"TZ", "UTC"}}, {{"state_dir", dir + "/state"}}});
}

void wait_for(const std::function<bool()>& ready) {
  while (!ready()) ::poll(nullptr, 0, 2);
}

// In the child: everything, then death.
[[noreturn]] void derive_and_die(const std::string& dir, std::size_t messages) {
  const Config config = config_of(dir);
  const auto app = must(App::open(config, "bench"));
  const double before = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const DrainReport report = must(app->run_once([] { return true; }));
  const double took = seconds_of(CLOCK_MONOTONIC) - before;
  const double used = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  const auto count = static_cast<double>(messages);
  std::printf("  read, indexed and embedded in %.1f s (processor %.1f s): %.0f messages/s%s\n",
              took, used, count / took, report.done ? "" : " (something is left)");
  app->serving().index->start();
  wait_for([&] { return megabytes(config.db_path + ".vectors") > 0; });
  std::fflush(stdout);
  ::kill(::getpid(), SIGKILL);
  ::_exit(1);
}

void embed_rate() {
  Talk talk;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) texts.push_back(talk.text(8, 40));
  const auto embedder = make_builtin_embedder();
  const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  (void)must(embedder->embed_local(texts));
  std::printf("  the built-in embedder alone: %.0f messages per processor second\n",
              5000 / (seconds_of(CLOCK_THREAD_CPUTIME_ID) - before));
}

Times ask_plain(const Corpus& corpus) {
  sqlite3* db = nullptr;
  sqlite3_open(corpus.plain_fts.c_str(), &db);
  sqlite3_stmt* select = nullptr;
  sqlite3_prepare_v2(db,
                     "SELECT rowid FROM plain WHERE plain MATCH ?1 ORDER BY bm25(plain) LIMIT 10",
                     -1, &select, nullptr);
  Times times;
  for (const std::string& prompt : corpus.prompts) {
    std::string match;
    for (const char c : prompt) match += c == ' ' ? std::string(" OR ") : std::string(1, c);
    times.measure([&] {
      sqlite3_bind_text(select, 1, match.c_str(), -1, SQLITE_TRANSIENT);
      while (sqlite3_step(select) == SQLITE_ROW) {
      }
      sqlite3_reset(select);
    });
  }
  sqlite3_finalize(select);
  sqlite3_close(db);
  return times;
}

void ask(App& app, const Corpus& corpus) {
  const SystemClock clock;
  const Sight sight = must(sight_as("main", "owner"));
  Times injects, searches;
  std::size_t recalled = 0, degraded = 0;
  for (const std::string& prompt : corpus.prompts) {
    auto lease = must(app.serving().readers.lease());
    InjectRequest request;
    request.prompt = prompt;
    request.window = {true, 0, {}};
    request.budget_chars = 12'000;
    injects.measure([&] {
      const InjectAnswer answer = inject(app.serving(), *lease, sight, request);
      recalled += answer.items.empty() ? 0 : 1;
      degraded += answer.degraded.empty() ? 0 : 1;
    });
    RecallQuery query;
    query.text = prompt;
    query.limit = 10;
    query.deadline_steady_ms = clock.steady_ms() + 5000;
    searches.measure([&] { (void)app.serving().retrieval.recall(*lease, sight, query); });
  }
  std::printf("  inject       %s; %zu of %zu recalled something, %zu were degraded\n",
              injects.text().c_str(), recalled, corpus.prompts.size(), degraded);
  std::printf("  search       %s\n", searches.text().c_str());
  Times plain = ask_plain(corpus);
  std::printf("  plain FTS5   %s; inject takes %.2f of its time at p50, %.2f at p99\n",
              plain.text().c_str(), injects.cpu(0.5) / std::max(plain.cpu(0.5), 1e-6),
              injects.cpu(0.99) / std::max(plain.cpu(0.99), 1e-6));
}

// With a folder to keep, the store is made there once and only asked the next time.
void run(std::size_t messages, const std::string& keep) {
  const support::TempDir temporary;
  const std::string dir = keep.empty() ? temporary.path() : keep + "/" + std::to_string(messages);
  ::mkdir(dir.c_str(), 0700);
  std::printf("\n%zu messages\n", messages);
  const Config config = config_of(dir);
  const bool there = stat_file(config.db_path + ".vectors").has_value();
  const Corpus corpus = write_corpus(dir, messages);
  std::fflush(stdout);
  if (!there) {
    if (const pid_t child = ::fork(); child == 0) {
      derive_and_die(dir, messages);
    } else {
      int status = 0;
      ::waitpid(child, &status, 0);
    }
  }
  std::printf("  store %.0f MB, index snapshot %.0f MB; plain FTS5 with its texts %.0f MB\n",
              megabytes(config.db_path) + megabytes(config.db_path + "-wal"),
              megabytes(config.db_path + ".vectors"), megabytes(corpus.plain_fts));
  const double killed = seconds_of(CLOCK_MONOTONIC);
  const auto app = must(App::open(config, "bench"));
  {
    auto lease = must(app->serving().readers.lease());
    InjectRequest request;
    request.prompt = corpus.prompts.front();
    request.window = {true, 0, {}};
    request.budget_chars = 12'000;
    (void)inject(app->serving(), *lease, must(sight_as("main", "owner")), request);
  }
  const double answered = seconds_of(CLOCK_MONOTONIC);
  app->serving().index->start();
  wait_for([&] { return app->serving().index->index() != nullptr; });
  const double loaded = seconds_of(CLOCK_MONOTONIC);
  std::printf("  after kill -9: first prompt answered in %.2f s, with vectors in %.2f s\n",
              answered - killed, loaded - killed);
  wait_for([&] { return app->serving().index->state().loaded; });
  const auto index = app->serving().index->index();
  if (index->sizes().linked < index->sizes().rows && messages >= ScanOptions{}.graph_rows) {
    std::printf("  while the graph grows:\n");
    ask(*app, corpus);
    const double began = seconds_of(CLOCK_MONOTONIC);
    wait_for([&] { return index->sizes().linked == index->sizes().rows; });
    std::printf("  with the graph whole, after %.0f s more:\n",
                seconds_of(CLOCK_MONOTONIC) - began);
  }
  ask(*app, corpus);
  std::printf("  resident %.0f MB, of which vectors %.0f MB\n", resident_mb(),
              static_cast<double>(app->serving().index->index()->sizes().vector_bytes) / 1e6);
  std::fflush(stdout);
}

}  // namespace
}  // namespace clawmark::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a long run is watched
  CLI::App app("Whole pipeline at a size: rates, memory, start after a kill, inject and search");
  std::vector<std::size_t> sizes{10'000, 100'000};
  std::string keep;
  app.add_option("messages", sizes, "how many messages, a run for each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--keep", keep,
                 "folder whose stores are kept, and used again when they are there");
  CLI11_PARSE(app, argc, argv);
  clawmark::bench::embed_rate();
  for (const std::size_t messages : sizes) clawmark::bench::run(messages, keep);
  return 0;
}
