// Method. N messages of 8 to 40 words, drawn with a seed from 40,000 made-up words by Zipf's law,
// 250 a session, one in 5,000 with an invoice number, are put into a store with their texts (kept
// in the vault, compressed), and folded into the message index, the word index and the signatures.
// Then each question goes through the daemon's interface as an agent's tool call would, over all of
// it, 20 times. The baseline beside a regular expression is RE2 over the same texts in memory, one
// by one: what a search without signatures needs even if reading texts cost nothing.
//
//   clawmark-history [N …]        default 100000; CLAWMARK_BENCH_MESSAGES names another default

#include <re2/re2.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <filesystem>
#include <random>

#include "base/utf8.h"
#include "bench/figures.h"
#include "log/event_log.h"
#include "log/graph_events.h"
#include "log/store.h"
#include "projections/graph_projection.h"
#include "projections/history.h"
#include "projections/projection.h"
#include "projections/rebuild.h"
#include "projections/search.h"
#include "serve/api.h"
#include "serve/serving.h"
#include "sources/text_cleaner.h"

namespace clawmark::bench {
namespace {

constexpr std::size_t kWords = 40'000, kPerSession = 250, kBatch = 1000;
constexpr std::size_t kContextMessages = 20'000, kPerSummary = 200;
constexpr int kRuns = 20;

std::vector<std::string> make_texts(std::size_t count) {
  const char* const syllables[] = {"ba",  "ko",  "ri", "ten", "mu",  "sal", "dor", "ne",
                                   "pli", "gra", "vo", "hes", "tur", "am",  "il",  "ock"};
  std::vector<std::string> words;
  std::vector<double> reach;
  double sum = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    std::string word;
    for (std::size_t rest = i + 16; rest > 0; rest /= 16) word += syllables[rest % 16];
    words.push_back(word);
    sum += 1.0 / static_cast<double>(i + 30);
    reach.push_back(sum);
  }
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> uniform;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text;
    const std::size_t length = 8 + random() % 33;
    for (std::size_t k = 0; k < length; ++k) {
      const double at = uniform(random) * sum;
      const auto found = std::lower_bound(reach.begin(), reach.end(), at) - reach.begin();
      text.append(k == 0 ? "" : " ").append(words[static_cast<std::size_t>(found)]);
    }
    if (i % 5000 == 17) text += " see invoice INV-20" + std::to_string(10 + i % 90);
    texts.push_back(std::move(text));
  }
  return texts;
}

NewEvent event_of(std::size_t i, const std::string& text) {
  const std::string entry = "00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + i);
  const std::string session = "s" + std::to_string(i / kPerSession);
  NewEvent event;
  event.type = event_type::kMessageObserved;
  event.scope = {"main", "agent:main:telegram:direct:101", Lane::kDirect, "telegram:101"};
  event.dedupe_key = "msg:main:" + entry;
  event.occurred = {1'600'000'000'000 + static_cast<std::int64_t>(i) * 30'000};
  event.payload = {{"entry_id", entry},
                   {"session_id", session},
                   {"session_key", "agent:main:telegram:direct:101"},
                   {"role", i % 2 == 0 ? "user" : "assistant"},
                   {"class", "chat"},
                   {"noise", ""},
                   {"speaker", i % 2 == 0 ? "Ada" : ""},
                   {"sender_is_owner", false},
                   {"bytes", text.size()},
                   {"sha256", to_hex(sha256(text))},
                   {"chars", count_code_points(text)},
                   {"carrier", "agent-db"},
                   {"position", i}};
  return event;
}

void fill(Store& store, BodyStore& bodies, const std::vector<std::string>& texts) {
  for (std::size_t at = 0; at < texts.size(); at += kBatch) {
    auto txn = must(Transaction::begin(store.db()));
    std::vector<NewEvent> events;
    for (std::size_t i = at; i < std::min(texts.size(), at + kBatch); ++i) {
      events.push_back(event_of(i, texts[i]));
      must(bodies.put(txn, sha256(texts[i]), texts[i]));
    }
    must(store.log().append(txn, events));
    must(txn.commit());
  }
}

double fold(Store& store, Projection& projection, TimeMs now) {
  const double start = seconds_of(CLOCK_MONOTONIC);
  const int generation = must(live_generation(store.db(), projection.name()));
  while (must(fold_step(store.db(), projection, generation, 500, now)) > 0) {
  }
  return seconds_of(CLOCK_MONOTONIC) - start;
}

json::object ask(Serving& serving, const std::string& tool, json::object params) {
  const json::object caller{{"agent", "main"},    {"session_key", "agent:main:telegram:direct:101"},
                            {"session_id", "s0"}, {"channel", "telegram"},
                            {"sender_id", "101"}, {"trigger", "tool"}};
  const HttpAnswer answer =
      answer_call(serving, {"POST",
                            "/v1/tools/" + tool,
                            {},
                            to_text(json::object{{"caller", caller}, {"params", params}})});
  return must(parse_json(answer.body)).as_object();
}

// What the context engine asks before a prompt: of the newest 20,000 messages of a conversation
// that has all of them, with a summary of each 200.
void assemble(Serving& serving, const char* mode, std::size_t count) {
  const json::object caller{{"agent", "main"},    {"session_key", "agent:main:telegram:direct:101"},
                            {"session_id", "s0"}, {"channel", "telegram"},
                            {"sender_id", "101"}, {"trigger", "tool"}};
  const std::size_t first = count - std::min<std::size_t>(count, kContextMessages);
  json::object body{{"caller", caller},
                    {"mode", mode},
                    {"from_ms", event_of(first, "").occurred.value},
                    {"before_ms", event_of(count - 40, "").occurred.value},
                    {"chars", 60'000}};
  const HttpAnswer answer =
      answer_call(serving, {"POST", "/v1/assemble", {}, to_text(json::object(body))});
  if (answer.status != 200) std::fprintf(stderr, "assemble: %s\n", answer.body.c_str());
}

// A summary of each 200 of the newest messages, as an endpoint's.
void add_summaries(Store& store, std::size_t count) {
  const std::size_t first = count - std::min<std::size_t>(count, kContextMessages);
  std::vector<NewEvent> events;
  for (std::size_t at = first; at + kPerSummary <= count; at += kPerSummary) {
    NewEvent event;
    event.type = event_type::kGraphCompleted;
    event.scope = {"main", "agent:main:telegram:direct:101", Lane::kDirect, ""};
    event.dedupe_key = "graph:bench:" + std::to_string(at);
    event.occurred = event_of(at + kPerSummary - 1, "").occurred;
    json::array messages;
    for (std::size_t i = at; i < at + kPerSummary; ++i) messages.push_back(std::int64_t(i + 1));
    event.payload = {{"messages", std::move(messages)},
                     {"session_id", "s" + std::to_string(at / kPerSession)},
                     {"holder", "person:telegram:101"},
                     {"prose", "They went on about the garden, part " + std::to_string(at) + ". " +
                                   std::string(1000, 'w')},
                     {"state", "The next step is part " + std::to_string(at)}};
    events.push_back(std::move(event));
  }
  auto txn = must(Transaction::begin(store.db()));
  must(store.log().append(txn, events));
  must(txn.commit());
}

void show(Serving& serving, const std::string& name, const std::string& tool,
          const json::object& params) {
  Times times;
  json::object answer;
  for (int i = 0; i < kRuns; ++i) times.measure([&] { answer = ask(serving, tool, params); });
  const auto* details = find_object(answer, "details");
  const auto* hits = details == nullptr ? nullptr : find_array(*details, "hits");
  const std::string text = get_string(answer, "text");
  const bool skipped = text.find("not looked at") != std::string::npos;
  std::printf("  %-34s %s%s%s\n", name.c_str(), times.text().c_str(),
              hits == nullptr ? "" : ("  hits " + std::to_string(hits->size())).c_str(),
              skipped ? ", says what it left out" : "");
}

void baseline(const std::vector<std::string>& texts, const std::string& pattern) {
  RE2::Options options;
  options.set_case_sensitive(false);
  const RE2 expression(pattern, options);
  Times times;
  std::size_t hits = 0;
  times.measure([&] {
    for (const std::string& text : texts) {
      if (RE2::PartialMatch(text, expression)) ++hits;
    }
  });
  std::printf("    RE2 over texts in memory         %8.1f ms  all hits %zu\n", times.wall(0.5),
              hits);
}

void run(std::size_t count) {
  const auto dir =
      std::filesystem::temp_directory_path() / ("clawmark-history-bench-" + std::to_string(count));
  std::filesystem::remove_all(dir);
  std::filesystem::create_directories(dir);
  std::filesystem::permissions(dir, std::filesystem::perms::owner_all);
  const SystemClock clock;
  const std::string path = (dir / "clawmark.db").string();
  const auto texts = make_texts(count);
  std::printf("%zu messages\n", count);
  {
    StoreOptions options;
    options.path = path;
    options.holder = "bench";
    Store store = must(Store::open(options, clock));
    must(register_search(store.db()));
    BodyStore bodies(Retention::kVerbatim, nullptr);
    const std::unique_ptr<Projection> all[] = {make_messages_projection(), make_graph_projection(),
                                               make_search_projection(bodies, presentable_text),
                                               make_history_projection(bodies, presentable_text)};
    std::vector<Projection*> list;
    for (const auto& projection : all) list.push_back(projection.get());
    must(ensure_projections(store.db(), list));
    fill(store, bodies, texts);
    add_summaries(store, count);
    for (Projection* projection : list) {
      const double seconds = fold(store, *projection, clock.now());
      std::printf("  fold %-10s %8.1f s  %9.0f messages/s\n",
                  std::string(projection->name()).c_str(), seconds,
                  static_cast<double>(count) / seconds);
    }
    const auto bytes = must(
        store.db().query_int("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'history_grams%'"));
    std::printf("  signatures %.1f MB (%.0f bytes a message)\n",
                static_cast<double>(bytes.value_or(0)) / 1e6,
                static_cast<double>(bytes.value_or(0)) / static_cast<double>(count));
  }
  BodyStore bodies(Retention::kReference, nullptr);
  auto config = std::make_shared<Config>();
  config->timezone = "Europe/Zurich";
  ServingParts parts;
  parts.config = config;
  parts.clock = &clock;
  parts.version = "bench";
  parts.open_reader = [&path] { return Store::open_read_only(path); };
  parts.bodies = &bodies;
  parts.new_id = [] { return std::string("id"); };
  Serving serving(std::move(parts));
  for (const char* pattern : {"inv-20\\d\\d", "inv-20(11|12)\\b.*$", "korital[a-z]+ock",
                              "zzzzqx\\d", "(tenbako|muri)dor\\w+", "\\d{4}$", "ba.*ko.*ri"}) {
    show(serving, std::string("regex ") + pattern, "rc_grep",
         {{"pattern", pattern}, {"mode", "regex"}, {"scope", "all"}});
    baseline(texts, pattern);
  }
  show(serving, "words, rare", "rc_grep", {{"pattern", "invoice INV-2030"}, {"scope", "all"}});
  show(serving, "words, common", "rc_grep",
       {{"pattern", texts[count / 2].substr(0, 40)}, {"scope", "all"}});
  show(serving, "peek, newest of all", "rc_peek", {{"offset", 0}, {"sessionId", "all"}});
  show(serving, "peek, a conversation of all", "rc_peek", {{"offset", 0}});
  for (const char* mode : {"recursive", "world"}) {
    Times times;
    for (int i = 0; i < 10 * kRuns; ++i) {
      times.measure([&] { assemble(serving, mode, count); });
    }
    std::printf("  assemble, mode %-19s %s\n", mode, times.text().c_str());
  }
  show(serving, "slice of one session", "rc_slice",
       {{"start", 100}, {"end", 120}, {"sessionId", "s3"}});
  show(serving, "timeline of all, 30 days", "rc_timeline", {{"sessionId", "all"}});
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace clawmark::bench

int main(int argc, char** argv) {
  CLI::App app("Tools of the history at a size: by words, by expressions, slices, timelines");
  std::vector<std::size_t> sizes{100'000};
  app.add_option("messages", sizes, "how many messages, a run for each")
      ->check(CLI::PositiveNumber)
      ->envname("CLAWMARK_BENCH_MESSAGES")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (const std::size_t size : sizes) clawmark::bench::run(size);
  return 0;
}
