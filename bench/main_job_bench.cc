// Method. A state folder of older transcripts (JSONL, 400 sessions) is written to a temporary
// folder. Then, in one process and in this order:
//   1. every file is read by bytes                       → the floor of any reader
//   2. every stream is read through the adapter, parsed   → the raw parse rate
//   3. the same folder goes into a new log (ingest alone) → messages/s into the log, and its ratio
//   to 2
//   4. everything else is drained (folds, search index, extraction, vectors; all built in)
//   5. 400 prompts are asked for what they would get      → p50, p99; then resident memory
// Prompts are sentences of messages that exist, asked by the owner in a conversation that is not
// the message's.

#include <malloc.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "cmd/app.h"
#include "cmd/source_options.h"
#include "cmd/terminal.h"
#include "serve/inject.h"
#include "tests/support/store_builder.h"
#include "workers/driver.h"
#include "workers/ingest.h"
#include "workers/loop.h"
#include "workers/poll_machine.h"

namespace clawmark {
namespace {

constexpr std::size_t kSessions = 400;
constexpr int kPrompts = 400;

struct Corpus {
  std::vector<std::string> sentences;  // one of every so many messages
  std::size_t messages = 0, bytes = 0;
};

[[noreturn]] void die(const Error& error) {
  std::fprintf(stderr, "bench: %s\n", describe(error).c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) die(result.error());
  return std::move(result).value();
}

Corpus write_corpus(const std::string& state_dir, std::size_t messages) {
  Corpus corpus;
  support::TranscriptWriter files(state_dir, "main");
  std::string index = "{";
  for (std::size_t i = 0; i < kSessions; ++i) {
    support::MakeOptions options;
    options.seed = i + 1;
    options.messages = messages / kSessions;
    options.era = support::Era::kFiles3;
    options.session_key = "agent:main:dashboard:" + std::to_string(i);
    options.start_ms = 1'780'000'000'000 + static_cast<std::int64_t>(i) * 30'000'000;
    const auto talk = support::make_conversation(options);
    const std::string text = support::transcript_text(talk, support::Era::kFiles3);
    support::write_text(files.path(talk.session_id), text);
    index += (i == 0 ? "\"" : ",\"") + talk.session_key + R"(":{"sessionId":")" + talk.session_id +
             R"("})";
    corpus.messages += support::message_ids(talk).size();
    corpus.bytes += text.size();
    for (std::size_t k = 1 + i % 7; k < talk.items.size(); k += 97) {
      if (!talk.items[k].text.empty() && talk.items[k].text.size() < 300)
        corpus.sentences.push_back(talk.items[k].text);
    }
  }
  support::write_text(files.folder() + "/sessions.json", index + "}");
  return corpus;
}

std::int64_t resident_kib(const char* field) {
  std::ifstream in("/proc/self/status");
  std::string word;
  while (in >> word) {
    if (word == field) {
      std::int64_t value = 0;
      in >> value;
      return value;
    }
  }
  return 0;
}

struct Took {
  double wall = 0, cpu = 0;  // seconds; cpu of all threads, which other programs cannot lengthen
};

class Stopwatch {
 public:
  Took took() const {
    return {now(CLOCK_MONOTONIC) - start_.wall, now(CLOCK_PROCESS_CPUTIME_ID) - start_.cpu};
  }

 private:
  static double now(clockid_t which) {
    timespec at{};
    clock_gettime(which, &at);
    return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) / 1e9;
  }
  Took start_ = {now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
};

void line(const char* what, Took took, const Corpus& corpus, Took against = {}) {
  const auto rate = [&](double seconds) {
    return format_count(
        static_cast<std::int64_t>(static_cast<double>(corpus.messages) / std::max(seconds, 0.001)));
  };
  std::printf("  %-30s %8.2f s %9s messages/s | of CPU time %8.2f s %9s messages/s", what,
              took.wall, rate(took.wall).c_str(), took.cpu, rate(took.cpu).c_str());
  if (against.cpu > 0) std::printf("  %5.2f × parsing", took.cpu / against.cpu);
  std::printf("\n");
}

Took read_bytes(const std::string& state_dir) {
  const Stopwatch watch;
  std::size_t sum = 0;
  for (const auto& file : support::list_files(state_dir))
    sum += support::read_text(state_dir + "/" + file).size();
  return sum == 0 ? Took{} : watch.took();
}

Took parse_only(const SourceOptions& options, std::size_t expected) {
  const SystemClock clock;
  const Stopwatch watch;
  std::size_t messages = 0;
  for (auto& open : discover_sources(options, clock)) {
    for (const auto& stream : must(open.source->streams())) {
      StreamPosition at;
      for (;;) {
        StreamBatch batch = must(open.source->read(stream, at, 500));
        for (const auto& entry : batch.entries)
          messages += entry.kind == EntryKind::kMessage ? 1 : 0;
        at = batch.next;
        if (batch.at_end) break;
      }
    }
  }
  if (messages != expected)
    std::fprintf(stderr, "bench: parsed %zu of %zu messages\n", messages, expected);
  return watch.took();
}

// Ingest alone, as the writer's thread does it.
Took ingest_only(const SourceOptions& sources, const std::string& db_path, std::size_t expected) {
  const SystemClock clock;
  StoreOptions options;
  options.path = db_path;
  Store store = must(Store::open(options, clock));
  BodyStore bodies(Retention::kReference, nullptr);
  IngestOptions ingest;
  ingest.discover = [&] { return discover_sources(sources, clock); };
  auto port = std::make_unique<IngestPort>(store, bodies, std::move(ingest));
  const IngestPort& counted = *port;
  WorkerLoop loop(std::make_unique<PollMachine>(1, 0), std::move(port), clock);
  WorkerLoop* const loops[] = {&loop};
  const Stopwatch watch;
  must(run_until_idle(loops, clock, OnceOptions{}));
  const std::int64_t messages = counted.messages_ingested();
  if (static_cast<std::size_t>(messages) != expected) {
    std::fprintf(stderr, "bench: ingested %lld of %zu messages\n", static_cast<long long>(messages),
                 expected);
  }
  return watch.took();
}

void ask(App& app, const Corpus& corpus) {
  must(app.serving().index->refresh());
  const SystemClock clock;
  std::vector<double> took;
  std::size_t hits = 0;
  auto lease = must(app.serving().readers.lease());
  const Sight sight = must(sight_as("main", "owner"));
  for (int i = 0; i < kPrompts; ++i) {
    InjectRequest request;
    request.prompt = corpus.sentences[static_cast<std::size_t>(i) * 7919 % corpus.sentences.size()];
    request.window = {true, 0, {}};
    request.budget_chars = 12000;
    timespec before{}, after{};
    clock_gettime(CLOCK_MONOTONIC, &before);
    const InjectAnswer answer = inject(app.serving(), *lease, sight, request);
    clock_gettime(CLOCK_MONOTONIC, &after);
    took.push_back(static_cast<double>(after.tv_sec - before.tv_sec) * 1e3 +
                   static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e6);
    hits += answer.items.empty() ? 0 : 1;
  }
  std::sort(took.begin(), took.end());
  const auto at = [&](double share) {
    return took[static_cast<std::size_t>(share * (kPrompts - 1))];
  };
  std::printf(
      "  inject: p50 %.2f ms, p90 %.2f ms, p99 %.2f ms; %zu of %d prompts recalled something\n",
      at(0.5), at(0.9), at(0.99), hits, kPrompts);
}

void run(std::size_t messages, bool ingest_is_all) {
  const support::TempDir dir;
  const std::string state_dir = dir / "state";
  const Corpus corpus = write_corpus(state_dir, messages);
  std::printf("\n%s messages in %zu sessions, %.1f MB of JSONL\n",
              format_count(static_cast<std::int64_t>(corpus.messages)).c_str(), kSessions,
              static_cast<double>(corpus.bytes) / 1e6);
  Config config =
      load_config({{}, {{"HOME", dir.path()}, {"TZ", "UTC"}}, {{"state_dir", state_dir}}});
  const SourceOptions sources = source_options(config);
  line("bytes read", read_bytes(state_dir), corpus);
  const Took parse = parse_only(sources, corpus.messages);
  line("parsed by the adapter", parse, corpus);
  line("into the log (ingest alone)",
       ingest_only(sources, dir / "ingest/clawmark.db", corpus.messages), corpus, parse);
  if (ingest_is_all) return;
  auto app = must(App::open(config, "bench"));
  const Stopwatch watch;
  const DrainReport report = must(app->run_once([] { return true; }));
  line("everything drained", watch.took(), corpus, parse);
  if (!report.done) std::printf("  (something is left)\n");
  ask(*app, corpus);
  malloc_trim(0);
  std::printf("  resident: %s KiB now, %s KiB at most\n",
              format_count(resident_kib("VmRSS:")).c_str(),
              format_count(resident_kib("VmHWM:")).c_str());
}

}  // namespace
}  // namespace clawmark

int main(int argc, char** argv) {
  CLI::App app("From transcripts to the log and to a prompt, at 10,000 and 100,000 messages");
  bool ingest = false, quick = false;
  app.add_flag("--ingest", ingest, "stop after the log");
  app.add_flag("--quick", quick, "10,000 messages only");
  CLI11_PARSE(app, argc, argv);
  clawmark::run(10'000, ingest);
  if (!quick) clawmark::run(100'000, ingest);
  return 0;
}
