// Two owners, and kill -9, with real processes. Method: children are forked before the parent opens
// anything; they tell through a pipe what became of them.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <random>
#include <set>

#include "log/cursor.h"
#include "support.h"

namespace clawmark {
namespace {

// A child that runs `body` and leaves with its result.
pid_t spawn(const std::function<int()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Pipe {
 public:
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    read_ = Fd(ends[0]);
    write_ = Fd(ends[1]);
  }
  void send(char c) const { ASSERT_EQ(::write(write_.get(), &c, 1), 1); }
  char receive() const {
    char c = '\0';
    EXPECT_EQ(::read(read_.get(), &c, 1), 1);
    return c;
  }

 private:
  Fd read_, write_;
};

TEST(StoreProcesses, C156_of_five_started_at_once_exactly_one_owns_the_store) {
  const TempDir dir;
  const Pipe go, done, leave;
  const auto contender = [&] {
    const ManualClock clock;
    StoreOptions options;
    options.path = dir.file("data/clawmark.db");
    options.holder = "contender pid " + std::to_string(::getpid());
    (void)go.receive();
    auto store = Store::open(options, clock);
    if (!store.ok()) {
      const bool named = store.error().reason == "held" &&
                         store.error().message.find("contender pid ") != std::string::npos;
      done.send(named ? 'h' : '?');
      return 75;
    }
    append_count(*store, 3, options.holder);
    done.send('o');
    (void)leave.receive();
    return 0;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 5; ++i) children.push_back(spawn(contender));
  for (int i = 0; i < 5; ++i) go.send('g');
  std::multiset<char> answers;
  for (int i = 0; i < 5; ++i) answers.insert(done.receive());
  leave.send('x');
  std::multiset<int> codes;
  for (const pid_t child : children) codes.insert(wait_for(child));
  EXPECT_EQ(answers, (std::multiset<char>{'o', 'h', 'h', 'h', 'h'}));
  EXPECT_EQ(codes, (std::multiset<int>{0, 75, 75, 75, 75}));
  const ManualClock clock;
  Store store = open_store(dir.file("data/clawmark.db"), clock);
  EXPECT_EQ(must(EventLog::head(store.db())), Seq{3}) << "the losers changed nothing";
}

TEST(StoreProcesses, C156_the_lock_of_a_killed_owner_is_free) {
  const TempDir dir;
  const Pipe ready;
  const pid_t owner = spawn([&] {
    const ManualClock clock;
    Store store = open_store(dir.file("clawmark.db"), clock);
    ready.send('r');
    for (;;) ::pause();
    return 0;
  });
  (void)ready.receive();
  const ManualClock clock;
  StoreOptions options;
  options.path = dir.file("clawmark.db");
  EXPECT_EQ(Store::open(options, clock).error().reason, "held");
  ::kill(owner, SIGKILL);
  EXPECT_EQ(wait_for(owner), 128 + SIGKILL);
  EXPECT_TRUE(Store::open(options, clock).ok());
}

// One event and the cursor that covers it per transaction, some rows wide, until killed.
int append_for_ever(const std::string& path, const Pipe& progress) {
  const ManualClock clock;
  Store store = open_store(path, clock);
  const WorkerId worker{"fold", 1};
  Seq at = must(load_cursor(store.db(), worker)).position;
  for (int round = 0;; ++round) {
    auto txn = must(Transaction::begin(store.db()));
    std::vector<NewEvent> events;
    for (int i = 0; i < 7; ++i) {
      events.push_back(make_event("k" + std::to_string(at.value + i), std::string(300, 'x')));
    }
    const Seq head = must(store.log().append(txn, events)).head;
    must(advance_cursor(txn, worker, at, head, clock.now()));
    must(txn.commit());
    at = head;
    if (round % 20 == 0) progress.send('.');
  }
}

TEST(StoreProcesses, kill_9_at_any_moment_leaves_log_and_cursor_together) {
  const TempDir dir;
  const std::string path = dir.file("clawmark.db");
  std::mt19937 random(7);
  std::int64_t last = 0;
  for (int round = 0; round < 15; ++round) {
    const Pipe progress;
    const pid_t child = spawn([&] { return append_for_ever(path, progress); });
    (void)progress.receive();
    const auto more = random() % 4;
    for (std::size_t i = 0; i < more; ++i) (void)progress.receive();
    ::kill(child, SIGKILL);
    ASSERT_EQ(wait_for(child), 128 + SIGKILL);

    const ManualClock clock;
    Store store = open_store(path, clock);
    const LogCheck check = must(EventLog::verify(store.db()));
    EXPECT_TRUE(check.dense);
    EXPECT_TRUE(check.chain_valid);
    EXPECT_GT(check.events, last);
    EXPECT_EQ(check.events % 7, 0) << "a batch is there as a whole or not at all";
    EXPECT_EQ(must(load_cursor(store.db(), {"fold", 1})).position, Seq{check.events});
    last = check.events;
  }
}

TEST(StoreProcesses, C165_kill_9_during_a_migration_rolls_it_back) {
  const TempDir dir;
  const std::string path = dir.file("clawmark.db");
  const ManualClock clock;
  {
    Store store = open_store(path, clock);
    append_count(store, 50);
  }
  std::vector<Migration> two(migrations().begin(), migrations().end());
  // The second statement never ends, so the kill meets the migration in its middle.
  two.push_back({static_cast<int>(two.size()) + 1, "endless",
                 "CREATE TABLE half(x INTEGER) STRICT;"
                 "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n)"
                 " INSERT INTO half SELECT max(i) FROM n;"});
  const pid_t child = spawn([&] {
    StoreOptions options;
    options.path = path;
    options.schema = two;
    return Store::open(options, clock).ok() ? 0 : 1;
  });
  while (!stat_file(path + ".v" + std::to_string(migrations().size()) + ".bak")) ::sched_yield();
  ::kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL);
  Store store = open_store(path, clock);
  EXPECT_EQ(must(EventLog::head(store.db())), Seq{50});
  EXPECT_EQ(must(store.db().query_int("SELECT count(*) FROM sqlite_schema WHERE name = 'half'")),
            0);
}

}  // namespace
}  // namespace clawmark
