// Cases of the part "service ops" that need a store and a knock: rebuilds that are killed, folders
// that cannot carry a store.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "projections/rebuild.h"
#include "tests/reliability/invariants.h"
#include "tests/reliability/report.h"
#include "tests/workers/support.h"
#include "workers/backoff.h"

namespace clawmark::reliability {
namespace {

// Rebuilds in a child that is killed after so many progress callbacks of SQLite; 0: never.
bool rebuild_in_child(const std::string& path, int callbacks) {
  const pid_t child = fork();
  if (child == 0) {
    ManualClock clock;
    StoreOptions where;
    where.path = path;
    auto store = Store::open(where, clock);
    if (!store.ok()) _exit(3);
    int called = 0;
    store->db().set_progress([&] {
      if (++called == callbacks) kill(getpid(), SIGKILL);
      return false;
    });
    const auto messages = make_messages_projection();
    _exit(rebuild(store->db(), *messages, clock.now(), {}).ok() ? 0 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::int64_t generations(Database& db) {
  return db
      .query_int(
          "SELECT count(DISTINCT substr(name, instr(name, '__g'))) FROM sqlite_schema"
          " WHERE type = 'table' AND name LIKE 'messages\\_\\_g%' ESCAPE '\\'")
      .value()
      .value_or(-1);
}

TEST(Operations, C162_a_rebuild_killed_five_times_leaves_one_temporary_set_and_then_none) {
  World world;
  auto carrier = world.add("agent-db");
  std::vector<Entry> entries;
  for (int i = 0; i < 400; ++i) {
    char id[40];
    std::snprintf(id, sizeof id, "00000000-0000-4000-8000-%012d", i);
    entries.push_back(message(id, i % 2 ? "assistant" : "user", "word" + std::to_string(i),
                              1'794'000'000'000 + i * 1000));
  }
  carrier->streams = {stream("s1", std::move(entries))};
  world.drain();
  const std::string path = world.store->path();
  const auto messages = make_messages_projection();
  const auto before = live_digest(world.store->db(), *messages).value();
  world.close();
  int kills = 0;
  for (int callbacks = 2; kills < 5 && callbacks < 200; callbacks += 3) {
    if (!rebuild_in_child(path, callbacks)) ++kills;
  }
  ASSERT_EQ(kills, 5);
  world.open();
  EXPECT_LE(generations(world.store->db()), 2) << "the live one and at most one half-built";
  EXPECT_EQ(live_digest(world.store->db(), *messages).value().digest, before.digest)
      << "the old generation serves until the new one is whole";
  world.close();
  ASSERT_TRUE(rebuild_in_child(path, 0));
  world.open();
  EXPECT_EQ(generations(world.store->db()), 1);
  const auto after = live_digest(world.store->db(), *messages).value();
  EXPECT_EQ(after.digest, before.digest);
  EXPECT_GT(after.generation, before.generation);
  CursorMemory cursors;
  Projection* const list[] = {messages.get()};
  EXPECT_EQ(joined(check_anytime(world.store->db(), list, cursors, {})), "");
  report({"rebuild killed", 6, 5, 0, "one temporary set at most"});
}

// Long messages and huge tool results, without a second copy of the host's history.
TEST(Operations, C038_the_store_is_small_beside_what_it_was_made_of) {
  World world;
  auto carrier = world.add("agent-db");
  std::vector<Entry> entries;
  std::int64_t text_bytes = 0;
  Random random(3);
  for (int i = 0; i < 1500; ++i) {
    const bool result = i % 250 == 249;
    std::string text;
    while (text.size() < (result ? 1'000'000u : 2000u)) {
      text += "word" + std::to_string(random.below(5000)) + " ";
    }
    text_bytes += static_cast<std::int64_t>(text.size());
    char id[40];
    std::snprintf(id, sizeof id, "00000000-0000-4000-8000-%012d", i);
    Entry entry = message(id,
                          result  ? "toolResult"
                          : i % 2 ? "assistant"
                                  : "user",
                          std::move(text), 1'794'000'000'000 + i * 1000);
    if (result) entry.entry_class = "toolResult";
    entries.push_back(std::move(entry));
  }
  carrier->streams = {stream("s1", std::move(entries))};
  world.drain();
  const auto size = [&] {
    return world.number("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  };
  const std::int64_t first = size();
  EXPECT_LT(first, text_bytes * 5 / 4) << "events, index and vectors of " << text_bytes << " bytes";
  ASSERT_TRUE(
      world.store->db().run("DELETE FROM source_positions").ok());  // everything is read again
  world.reopen();
  world.drain();
  EXPECT_LT(size(), first + first / 100);
  EXPECT_EQ(world.count("message.observed"), 1500);
}

TEST(Operations, C160_a_folder_on_a_network_file_system_is_refused_before_a_file_is_made) {
  support::TempDir dir;
  ManualClock clock;
  for (const char* type : {"nfs", "cifs", "9p", "virtiofs"}) {
    StoreOptions where;
    where.path = dir / "clawmark.db";
    where.unsafe_filesystem = [&](const std::string&) { return std::string(type); };
    const auto store = Store::open(where, clock);
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.error().reason, "unsafe_filesystem");
    EXPECT_NE(store.error().message.find(type), std::string::npos);
    EXPECT_NE(store.error().message.find("local disk"), std::string::npos) << "the remedy";
  }
  EXPECT_TRUE(support::list_files(dir.path()).empty());
}

}  // namespace
}  // namespace clawmark::reliability
