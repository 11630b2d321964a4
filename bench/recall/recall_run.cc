// Method. A labelled data set is a folder with openclaw/CONV.jsonl (transcripts whose entry ids are
// known) and questions.jsonl ({"qid", "conv", "question", …}). Each transcript is put where an
// OpenClaw of that age keeps it, read by the product as any history is, and derived to the end:
// log, message index, search index, vectors. Then every question goes through Retrieval, as a
// search does: the ranking is that of the excerpts of inject and of the search tool, before
// neighbours are put together. Out go {"qid", "ids": entry ids, best first}. One store per
// conversation, or (--pooled) one for all. Whether the answers are good is for the data set's own
// scorer to say.
//
// --threshold: each question is also put as a prompt to its own store and to that of the next
// conversation, which has no answer; what is injected at each value of recall_threshold is counted.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "base/json.h"
#include "cmd/app.h"
#include "projections/messages.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

constexpr std::size_t kRanked = 100;

struct Options {
  std::string dataset, out;
  std::string encoder;  // a file; empty: none
  bool pooled = false;
  bool threshold = false;
};

struct Question {
  std::string id, text;
  std::set<std::string> evidence;  // entry ids
};

using Questions = std::map<std::string, std::vector<Question>>;  // by conversation

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "recall: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) die(describe(result.error()));
  return std::move(result).value();
}

// messages.jsonl, when it is there: entry ids of the transcripts by the labels' own names for them.
std::map<std::string, std::string> read_labels(const std::string& path) {
  std::map<std::string, std::string> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const json::value row = must(parse_json(line));
    const auto& object = row.as_object();
    out[get_string(object, "conv") + "/" + get_string(object, "id")] =
        get_string(object, "event_id");
  }
  return out;
}

Questions read_questions(const std::string& folder) {
  const std::string path = folder + "/questions.jsonl";
  const auto labels = read_labels(folder + "/messages.jsonl");
  std::ifstream in(path);
  if (!in) die("cannot read " + path);
  Questions out;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    const json::value row = must(parse_json(line));
    const auto& object = row.as_object();
    Question question{get_string(object, "qid"), get_string(object, "question"), {}};
    if (const auto* labelled = find_array(object, "evidence")) {
      for (const auto& id : *labelled) {
        if (!id.is_string()) continue;
        const std::string name(id.get_string().data(), id.get_string().size());
        const auto label = labels.find(get_string(object, "conv") + "/" + name);
        question.evidence.insert(label == labels.end() ? name : label->second);
      }
    }
    out[get_string(object, "conv")].push_back(std::move(question));
  }
  return out;
}

// The transcripts of these conversations, as the host would have left them.
void write_state(const Options& options, const std::string& state_dir,
                 const std::vector<std::string>& conversations) {
  support::TranscriptWriter files(state_dir, "main");
  json::object index;
  for (const std::string& name : conversations) {
    const std::string text = must(read_file(options.dataset + "/openclaw/" + name + ".jsonl"));
    const json::value head = must(parse_json(text.substr(0, text.find('\n'))));
    const std::string session_id = get_string(head.as_object(), "id");
    support::write_text(files.path(session_id), text);
    index["agent:main:dashboard:" + name] = json::object{{"sessionId", session_id}};
  }
  support::write_text(files.folder() + "/sessions.json", to_text(index));
}

// What prompts would get, by the threshold that lets a hit through.
struct Shown {
  static constexpr int kSteps = 9;
  std::array<std::size_t, kSteps> some{}, right{}, items{};
  std::size_t prompts = 0;
  static double threshold(int step) { return 0.15 + 0.05 * step; }
};

struct Totals {
  std::size_t questions = 0, messages = 0;
  Shown own, foreign;
  std::vector<double> took_ms;
  double derive_s = 0;
};

double now_s(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

json::array ask(App& app, Database& db, const Sight& sight, const std::string& text,
                Totals& totals) {
  const SystemClock clock;
  RecallQuery query;
  query.text = text;
  query.limit = 10;
  query.ranked_max = kRanked;
  query.deadline_steady_ms = clock.steady_ms() + 10'000;
  const double before = now_s(CLOCK_THREAD_CPUTIME_ID);
  const RecallAnswer answer = app.serving().retrieval.recall(db, sight, query);
  totals.took_ms.push_back((now_s(CLOCK_THREAD_CPUTIME_ID) - before) * 1e3);
  for (const std::string& part : answer.degraded) {
    std::fprintf(stderr, "recall: degraded: %s\n", part.c_str());
  }
  json::array ids;
  for (const MessageRow& row : must(read_messages(db, answer.ranked)))
    ids.emplace_back(row.entry_id);
  return ids;
}

// As a prompt of a session that holds nothing yet.
void prompt(App& app, Database& db, const Sight& sight, const Question& question, Shown& shown) {
  const SystemClock clock;
  RecallQuery query;
  query.text = question.text;
  query.window = RequestWindow{true, 0, {}};
  query.threshold = Shown::threshold(0);
  query.deadline_steady_ms = clock.steady_ms() + 10'000;
  const RecallAnswer answer = app.serving().retrieval.recall(db, sight, query);
  ++shown.prompts;
  for (int step = 0; step < Shown::kSteps; ++step) {
    bool some = false, right = false;
    for (const RecallItem& item : answer.items) {
      if (item.score < Shown::threshold(step)) continue;
      some = true;
      ++shown.items[static_cast<std::size_t>(step)];
      std::vector<Seq> messages;
      for (const std::int64_t message : item.messages) messages.push_back({message});
      for (const MessageRow& row : must(read_messages(db, messages))) {
        right = right || question.evidence.contains(row.entry_id);
      }
    }
    shown.some[static_cast<std::size_t>(step)] += some ? 1 : 0;
    shown.right[static_cast<std::size_t>(step)] += right ? 1 : 0;
  }
}

void print_shown(const Totals& totals) {
  std::printf("threshold  own: something  a labelled message  excerpts   foreign: something\n");
  for (int step = 0; step < Shown::kSteps; ++step) {
    const auto i = static_cast<std::size_t>(step);
    const auto share = [](std::size_t part, std::size_t all) {
      return all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
    };
    const Shown &own = totals.own, &foreign = totals.foreign;
    std::printf("%9.2f %14.1f%% %18.1f%% %9.2f %19.1f%%\n", Shown::threshold(step),
                share(own.some[i], own.prompts), share(own.right[i], own.prompts),
                share(own.items[i], own.prompts) / 100, share(foreign.some[i], foreign.prompts));
  }
}

// Prompts with an answer in this store, and as many of another conversation.
void prompt_all(App& app, Database& db, const Sight& sight, const Questions& questions,
                const std::string& name, Totals& totals) {
  const auto own = questions.find(name);
  if (own == questions.end() || questions.size() < 2) return;
  for (const Question& question : own->second) {
    if (!question.evidence.empty()) prompt(app, db, sight, question, totals.own);
  }
  const auto next = std::next(own) == questions.end() ? questions.begin() : std::next(own);
  for (const Question& question : next->second) prompt(app, db, sight, question, totals.foreign);
}

void run_store(const Options& options, const Questions& questions,
               const std::vector<std::string>& conversations, std::ofstream& out, Totals& totals) {
  const support::TempDir dir;
  write_state(options, dir / "state", conversations);
  std::map<std::string, std::string> flags{{"state_dir", dir / "state"}};
  if (!options.encoder.empty()) flags["encoder_file"] = options.encoder;
  const Config config = load_config({{}, {{"HOME", dir.path()}, {"TZ", "UTC"}}, flags});
  for (const std::string& problem : config.problems) die(problem);
  const double before = now_s();
  const auto app = must(App::open(config, "bench"));
  const DrainReport report = must(app->run_once([] { return true; }));
  if (!report.done) die("something is left to derive");
  must(app->serving().index->refresh());
  totals.derive_s += now_s() - before;
  totals.messages += app->serving().index->state().vectors;
  auto lease = must(app->serving().readers.lease());
  const Sight sight = must(sight_as("main", "owner"));
  for (const std::string& name : conversations) {
    const auto at = questions.find(name);
    if (at == questions.end()) continue;
    for (const Question& question : at->second) {
      const json::object row{{"qid", question.id},
                             {"ids", ask(*app, *lease, sight, question.text, totals)}};
      out << to_text(row) << '\n';
      ++totals.questions;
    }
    if (options.threshold) prompt_all(*app, *lease, sight, questions, name, totals);
  }
}

void run(const Options& options) {
  const Questions questions = read_questions(options.dataset);
  std::vector<std::string> names;
  for (const std::string& file : list_dir(options.dataset + "/openclaw")) {
    if (file.ends_with(".jsonl")) names.push_back(file.substr(0, file.size() - 6));
  }
  if (names.empty()) die("no transcripts in " + options.dataset + "/openclaw");
  std::ofstream out(options.out);
  if (!out) die("cannot write " + options.out);
  Totals totals;
  if (options.pooled) {
    run_store(options, questions, names, out, totals);
  } else {
    for (const std::string& name : names) run_store(options, questions, {name}, out, totals);
  }
  std::sort(totals.took_ms.begin(), totals.took_ms.end());
  const auto at = [&](double share) {
    return totals.took_ms.empty() ? 0.0
                                  : totals.took_ms[static_cast<std::size_t>(
                                        share * static_cast<double>(totals.took_ms.size() - 1))];
  };
  std::printf(
      "%zu questions over %zu conversations (%zu vectors), %s; read and derived in %.1f s; "
      "a question takes p50 %.2f ms, p99 %.2f ms of processor time\n",
      totals.questions, names.size(), totals.messages,
      options.pooled ? "one store for all" : "one store each", totals.derive_s, at(0.5), at(0.99));
  if (options.threshold) print_shown(totals);
}

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--pooled") {
      options.pooled = true;
    } else if (arg == "--threshold") {
      options.threshold = true;
    } else if (arg == "--encoder" && i + 1 < argc) {
      options.encoder = argv[++i];
    } else {
      places.push_back(arg);
    }
  }
  if (places.size() != 2 || places[0].starts_with("--") || places[1].starts_with("--")) {
    die("usage: clawmark-recall DATASET_DIR OUT.jsonl [--pooled | --threshold] [--encoder FILE]");
  }
  options.dataset = places[0];
  options.out = places[1];
  return options;
}

}  // namespace
}  // namespace clawmark

int main(int argc, char** argv) {
  clawmark::run(clawmark::parse(argc, argv));
  return 0;
}
