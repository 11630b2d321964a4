// kill -9 of the real clawmarkd, again and again, while it drains three growing stores.
//
// Method. An agent database, transcript files and an LCM database hold most of a history. Two
// daemons read it, each into a store of its own: one is left alone, the other is killed at moments
// drawn from a seed and started again. Meanwhile the stores grow, through the host's own kind of
// writing, and a user states facts over the socket. In the end both have read everything; what the
// killed one has must equal what the other has, each entry once, with every acknowledged fact, and
// every invariant of a store at rest.
//
//   CLAWMARK_KILLS=500            kills (default 100, and 20 with the built-in models)
//   CLAWMARK_KILL_MESSAGES=20000  messages (default 2,400 each)
//   CLAWMARK_SEED=3               another seed

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "base/json.h"
#include "cmd/unix_client.h"
#include "log/store.h"
#include "projections/graph_projection.h"
#include "projections/rebuild.h"
#include "tests/cmd/process.h"
#include "tests/reliability/invariants.h"
#include "tests/reliability/model_server.h"
#include "tests/reliability/report.h"
#include "tests/support/store_builder.h"
#include "workers/backoff.h"

namespace clawmark::reliability {
namespace {

using support::AgentDbWriter;
using support::Conversation;
using support::Era;
using support::eventually;
using support::LcmWriter;
using support::Process;
using support::TempDir;
using support::TranscriptWriter;

constexpr std::size_t kTalkMessages = 40;

// A state folder whose three stores grow by conversations and by messages at their ends.
class GrowingState {
 public:
  explicit GrowingState(std::string dir)
      : dir_(std::move(dir)), db_(dir_, "main"), files_(dir_, "work"), lcm_(dir_ + "/lcm.db") {
    db_.db().exec("PRAGMA synchronous=OFF");
    lcm_.db().exec("PRAGMA synchronous=OFF");
  }
  // A conversation more, most of it at once; its end comes with a later call.
  void grow() {
    finish();
    const std::uint64_t number = ++talks_;
    support::MakeOptions make;
    make.seed = number;
    make.messages = kTalkMessages;
    make.long_texts = number % 5 == 0;
    kind_ = static_cast<int>(number % 3);
    make.era = kind_ == 1 ? Era::kFiles3 : Era::kDatabase4;
    make.agent = kind_ == 1 ? "work" : kind_ == 2 ? "notes" : "main";
    // The index of transcripts names one session for each key, so each has a key of its own.
    make.session_key = "agent:" + make.agent + ":telegram:direct:" +
                       std::to_string(100 + (kind_ == 1 ? number : number % 7));
    make.start_ms = 1'794'000'000'000 + static_cast<std::int64_t>(number) * 3'600'000;
    whole_ = make_conversation(make);
    remember(make.era, number);
    for (const auto& id : message_ids(whole_)) names_.emplace_back(make.agent, id);
    part_ = whole_;
    part_.items.resize(whole_.items.size() - 11);
    if (kind_ == 0) db_.write(part_);
    if (kind_ == 1) files_.write(part_);
    if (kind_ == 2) lcm_.write(part_);
    unfinished_ = true;
  }
  void finish() {
    if (!std::exchange(unfinished_, false)) return;
    const std::size_t first = part_.items.size();
    if (kind_ == 0) db_.append(whole_, first);
    if (kind_ == 1) files_.append(whole_, first);
    if (kind_ == 2) lcm_.append(whole_, first);
  }
  const EntryNames& names() const { return names_; }

 private:
  // A person's last word, with a fact in it.
  void remember(Era era, std::uint64_t number) {
    support::Item said;
    said.id = support::Ids(9000 + number).next(era);
    said.entry_ms = whole_.items.back().entry_ms + 1000;
    said.message_ms = said.entry_ms;
    said.text =
        "remember pref.topic" + std::to_string(number % 9) + " = value" + std::to_string(number);
    if (number % 2 == 0) said.text = "I prefer tea number " + std::to_string(number) + ".";
    whole_.items.push_back(said);
    complete(whole_);
  }

  std::string dir_;
  AgentDbWriter db_;
  TranscriptWriter files_;
  LcmWriter lcm_;
  Conversation whole_, part_;
  int kind_ = 0;
  bool unfinished_ = false;
  std::uint64_t talks_ = 0;
  EntryNames names_;
};

// A home of one daemon.
struct Home {
  TempDir dir;
  std::unique_ptr<Process> daemon;
  Process::Environment environment;

  std::string db() const { return dir / ".local/share/clawmark/clawmark.db"; }
  std::string socket() const { return dir / ".local/share/clawmark/clawmark.sock"; }
  void start() {
    daemon = std::make_unique<Process>("clawmarkd", std::vector<std::string>{}, environment);
  }
  bool reconciled() {
    const auto answer = unix_request(socket(), "POST", "/v1/admin/reconcile",
                                     R"({"params":{"wait_ms":2000}})", 60'000);
    if (!answer.ok() || answer->status != 200) return false;
    const auto parsed = parse_json(answer->body);
    return parsed.ok() && parsed->is_object() &&
           answer->body.find("\"done\":true") != std::string::npos;
  }
  // True when the daemon said that it has it.
  bool state(const std::string& key, const std::string& value) {
    const json::object params{{"key", key}, {"value", value}};
    const auto answer = unix_request(socket(), "POST", "/v1/admin/set",
                                     to_text(json::object{{"params", params}}), 2000);
    return answer.ok() && answer->status == 200 &&
           answer->body.find("\"ok\":true") != std::string::npos;
  }
};

// What two stores that read the same history must have in common: rows as text, sorted.
struct Summary {
  std::vector<std::string> messages, facts, vectors, things, relations, episodes;
};

struct Scenario {
  bool endpoint = true;
  int kills = 100;
  std::size_t messages = 2'400;
  std::uint64_t seed = 1;
};

std::vector<std::string> rows_of(Database& db, const std::string& sql) {
  auto rows = db.prepare(sql);
  if (!rows.ok()) return {describe(rows.error())};
  std::vector<std::string> out;
  for (;;) {
    const auto row = rows->step();
    if (!row.ok()) return {describe(row.error())};
    if (!*row) break;
    out.push_back(rows->string(0));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Summary summary(Database& db) {
  return {rows_of(db,
                  "SELECT agent || ' ' || entry_id || ' ' || session_key"
                  " || ' ' || role || ' ' || class || ' ' || noise || ' ' || sender || ' ' ||"
                  " audience || ' ' || state || ' ' || recallable || ' ' || hex(sha256)"
                  " FROM messages"),
          rows_of(db,
                  "SELECT agent || ' ' || holder || ' ' || subject || ' ' || key || ' ' ||"
                  " value || ' ' || updated_at FROM facts WHERE source = 'extracted'"),
          rows_of(db, "SELECT hex(hash) || ' ' || hex(vector) FROM vectors"),
          rows_of(db,
                  "SELECT agent || ' ' || holder || ' ' || type || ' ' || key || ' ' || status ||"
                  " ' ' || mentions || ' ' || first_ms || ' ' || last_ms || ' ' || description"
                  " FROM graph_nodes"),
          rows_of(db,
                  "SELECT agent || ' ' || holder || ' ' || from_key || ' ' || type || ' ' ||"
                  " to_key || ' ' || from_ms || ' ' || last_ms || ' ' || quote FROM graph_edges"),
          rows_of(db,
                  "SELECT agent || ' ' || holder || ' ' || type || ' ' || title || ' ' ||"
                  " occurred_ms || ' ' || quote FROM graph_episodes")};
}

// Says how two lists differ, with the first row of each that the other lacks.
void compare(std::string_view what, const std::vector<std::string>& torn,
             const std::vector<std::string>& calm, Violations& found) {
  if (torn == calm) return;
  std::vector<std::string> only_torn, only_calm;
  std::set_difference(torn.begin(), torn.end(), calm.begin(), calm.end(),
                      std::back_inserter(only_torn));
  std::set_difference(calm.begin(), calm.end(), torn.begin(), torn.end(),
                      std::back_inserter(only_calm));
  std::string text = std::string(what) +
                     " differ from the undisturbed run: " + std::to_string(only_torn.size()) +
                     " rows only here";
  if (!only_torn.empty()) text += " (" + only_torn.front() + ")";
  text += ", " + std::to_string(only_calm.size()) + " only there";
  if (!only_calm.empty()) text += " (" + only_calm.front() + ")";
  found.push_back(std::move(text));
}

// Invariants of a store at rest.
Violations check_at_rest(const std::string& path, const EntryNames& names, Summary& out) {
  ManualClock clock;
  StoreOptions where;
  where.path = path;
  auto store = Store::open(where, clock);
  if (!store.ok()) return {describe(store.error())};
  const auto messages = make_messages_projection();
  const auto facts = make_facts_projection({});
  const auto graph = make_graph_projection();
  Projection* const projections[] = {messages.get(), facts.get(), graph.get()};
  CursorMemory cursors;
  Violations found = check_anytime(store->db(), projections, cursors, {});
  add(found, check_observed_once(store->db(), names));
  add(found, check_rebuild(store->db(), projections, clock.now()));
  add(found, check_only_parked(store->db(), "embed", {}));
  add(found, check_only_parked(store->db(), "extract", {}));
  out = summary(store->db());
  return found;
}

std::int64_t events_in(const std::string& path) {
  auto db = Store::open_read_only(path);
  return db.ok() ? db->query_int("SELECT count(*) FROM events").value().value_or(-1) : -1;
}

class KillLoop {
 public:
  explicit KillLoop(const Scenario& scenario)
      : scenario_(scenario), random_(scenario.seed), state_(state_dir_.path()) {
    for (Home* home : {&calm_, &torn_}) {
      home->environment = {{"HOME", home->dir.path()},
                           {"PATH", "/usr/bin:/bin"},
                           {"TZ", "UTC"},
                           {"CLAWMARK_STATE_DIR", state_dir_.path()}};
      if (!scenario.endpoint) continue;
      home->environment["CLAWMARK_EMBEDDING_URL"] = server_.url();
      home->environment["CLAWMARK_EMBEDDING_MODEL"] = "scripted";
      home->environment["CLAWMARK_EXTRACT_URL"] = server_.url();
      home->environment["CLAWMARK_EXTRACT_MODEL"] = "scripted";
    }
  }

  void run() {
    while (state_.names().size() < scenario_.messages * 3 / 4) state_.grow();
    calm_.start();
    for (int kill = 0; kill < scenario_.kills; ++kill) life(kill);
    while (state_.names().size() < scenario_.messages) state_.grow();
    state_.finish();
    torn_.start();
    ASSERT_TRUE(settled(torn_)) << torn_.daemon->err();
    ASSERT_TRUE(settled(calm_)) << calm_.daemon->err();
    for (Home* home : {&torn_, &calm_}) {
      const Violations blocks = look_at_blocks(*home);
      EXPECT_TRUE(blocks.empty()) << joined(blocks);
      home->daemon->signal(SIGTERM);
      EXPECT_EQ(home->daemon->wait().code, 0) << home->daemon->err();
    }
    judge();
  }

 private:
  // One life of the torn daemon: it starts, the stores grow, a user says something, it is killed.
  // Every fourth is killed while it opens; the others once they answered, in the midst of work.
  void life(int number) {
    torn_.start();
    const auto pause = [&](std::int64_t below_ms) { support::let_run(random_.below(below_ms)); };
    const bool while_opening = number % 4 == 3;
    if (while_opening) {
      pause(180);
    } else {
      EXPECT_TRUE(eventually([&] { return say(number, 0); })) << torn_.daemon->err();
    }
    const std::size_t lives = static_cast<std::size_t>(scenario_.kills);
    const std::size_t due = scenario_.messages * 3 / 4 +
                            scenario_.messages / 4 * (static_cast<std::size_t>(number) + 1) / lives;
    for (std::size_t i = 1; state_.names().size() < due; ++i) {
      state_.grow();
      if (random_.below(3) == 0) (void)say(number, i);
    }
    if (!while_opening) {
      pause(250);
      (void)say(number, 99);
    }
    torn_.daemon->signal(SIGKILL);
    EXPECT_EQ(torn_.daemon->wait().code, 128 + SIGKILL) << torn_.daemon->err();
  }
  bool say(int number, std::size_t nth) {
    const std::string key = "user.note" + std::to_string(number) + "_" + std::to_string(nth);
    if (!torn_.state(key, "value" + key)) return false;
    acknowledged_.push_back(key);
    return true;
  }
  // A loaded machine may need several minutes for the drain; a stuck one never ends it.
  bool settled(Home& home) {
    for (int minutes = 0; minutes < 15; ++minutes) {
      if (eventually([&] { return home.reconciled(); })) return true;
    }
    return false;
  }
  // What prompts get: the facts that were stated, and recall of what was said.
  static Violations look_at_blocks(const Home& home) {
    Violations found;
    for (const auto& [key, person] : std::vector<std::pair<std::string, std::string>>{
             {"agent:main:main", ""}, {"agent:main:telegram:direct:103", "103"}}) {
      for (const std::size_t budget : {12'000, 700}) {
        const json::object caller{
            {"agent", "main"}, {"session_key", key}, {"sender_id", person}, {"trigger", "user"}};
        const json::object body{{"caller", caller},
                                {"prompt", "what tea number do I prefer, and which topic?"},
                                {"budget_chars", budget}};
        const auto answer =
            unix_request(home.socket(), "POST", "/v1/inject", to_text(body), 60'000);
        if (!answer.ok() || answer->status != 200) return {"no answer to a prompt"};
        const auto parsed = parse_json(answer->body);
        if (!parsed.ok() || !parsed->is_object()) return {"no JSON for a prompt"};
        const std::string facts = get_string(parsed->get_object(), "facts_block");
        if (!person.empty() && budget > 1000 && facts.empty()) {
          found.push_back("a prompt has no fact of the one who speaks");
        }
        add(found, check_blocks(facts, get_string(parsed->get_object(), "recall_block"), budget));
      }
    }
    return found;
  }
  void judge() {
    Summary calm, torn;
    Violations found = check_at_rest(torn_.db(), state_.names(), torn);
    add(found, check_at_rest(calm_.db(), state_.names(), calm));
    compare("messages", torn.messages, calm.messages, found);
    compare("facts", torn.facts, calm.facts, found);
    compare("vectors", torn.vectors, calm.vectors, found);
    compare("things", torn.things, calm.things, found);
    compare("relations", torn.relations, calm.relations, found);
    compare("episodes", torn.episodes, calm.episodes, found);
    if (scenario_.endpoint) {
      EXPECT_FALSE(calm.things.empty() || calm.relations.empty() || calm.episodes.empty());
    }
    auto db = Store::open_read_only(torn_.db());
    ASSERT_TRUE(db.ok());
    for (const auto& key : acknowledged_) {
      const auto value = db->query_text("SELECT value FROM facts WHERE key = ?", key);
      if (!value.ok() || *value != "value" + key) found.push_back("lost: " + key);
    }
    EXPECT_GT(db->query_int("SELECT count(*) FROM facts WHERE source = 'extracted'").value(), 3);
    EXPECT_GE(acknowledged_.size(), static_cast<std::size_t>(scenario_.kills) * 3 / 4);
    const auto before = events_in(torn_.db());
    const auto once = support::run("clawmarkd", {"--once"}, torn_.environment);
    EXPECT_EQ(once.code, 0) << once.err;
    if (events_in(torn_.db()) != before) found.push_back("a further run appends something");
    report({scenario_.endpoint ? "kill -9, model server" : "kill -9, built-in models",
            scenario_.kills, scenario_.kills, static_cast<std::int64_t>(found.size()),
            std::to_string(state_.names().size()) + " messages, " +
                std::to_string(acknowledged_.size()) + " acknowledged facts"});
    EXPECT_TRUE(found.empty()) << "CLAWMARK_SEED=" << scenario_.seed << ": " << joined(found);
  }

  Scenario scenario_;
  Random random_;
  TempDir state_dir_;
  GrowingState state_;
  ModelServer server_;
  Home calm_, torn_;
  std::vector<std::string> acknowledged_;
};

TEST(Kill, kills_with_a_model_server_leave_what_an_undisturbed_run_leaves) {
  Scenario scenario;
  scenario.kills = static_cast<int>(setting("CLAWMARK_KILLS", 100));
  scenario.messages = static_cast<std::size_t>(setting("CLAWMARK_KILL_MESSAGES", 2'400));
  scenario.seed = static_cast<std::uint64_t>(setting("CLAWMARK_SEED", 1));
  KillLoop(scenario).run();
}

TEST(Kill, kills_with_the_built_in_models_leave_what_an_undisturbed_run_leaves) {
  Scenario scenario;
  scenario.endpoint = false;
  scenario.kills = static_cast<int>(setting("CLAWMARK_KILLS", 20));
  scenario.messages = static_cast<std::size_t>(setting("CLAWMARK_KILL_MESSAGES", 2'400));
  scenario.seed = static_cast<std::uint64_t>(setting("CLAWMARK_SEED", 1));
  KillLoop(scenario).run();
}

}  // namespace
}  // namespace clawmark::reliability
