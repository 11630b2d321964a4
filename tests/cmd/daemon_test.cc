// clawmarkd as a service: one owner, ready and watchdog, stop, reload, inert, bare environments, no
// secrets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "base/files.h"
#include "cmd/unix_client.h"
#include "tests/cmd/world.h"

namespace clawmark {
namespace {

using support::eventually;
using support::Outcome;
using support::Process;
using support::World;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// What systemd would hear.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : path_(path) {
    fd_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
        << path;
  }
  bool heard(const char* word) {
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::recv(fd_.get(), buffer, sizeof buffer, 0)) > 0) {
      all_.append(buffer, static_cast<std::size_t>(got)).push_back('\n');
    }
    return all_.find(word) != std::string::npos;
  }
  void forget() { all_.clear(); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Fd fd_;
  std::string all_;
};

bool answers(const World& world) {
  const auto answer = unix_request(world.socket(), "GET", "/v1/status", "", 5000);
  return answer.ok() && answer->status == 200;
}

json::object status_of(const World& world) {
  const auto answer = unix_request(world.socket(), "GET", "/v1/status", "", 5000);
  if (!answer.ok()) return {};
  auto parsed = parse_json(answer->body);
  return parsed.ok() && parsed->is_object() ? parsed->get_object() : json::object();
}

TEST(Daemon, is_ready_when_it_answers_feeds_the_watchdog_and_stops_when_told) {
  World world;
  NotifySocket systemd(world / "notify");
  world.extra = {{"NOTIFY_SOCKET", systemd.path()}, {"WATCHDOG_USEC", "3000000"}};
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return systemd.heard("READY=1"); })) << daemon.err();
  EXPECT_TRUE(answers(world));
  EXPECT_TRUE(eventually([&] { return systemd.heard("WATCHDOG=1"); })) << daemon.err();

  const SystemClock clock;
  const std::int64_t asked = clock.steady_ms();
  daemon.signal(SIGTERM);
  const Outcome outcome = daemon.wait();
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(clock.steady_ms() - asked, 5000);  // systemd would kill it later; the promise is 5 s
  EXPECT_TRUE(systemd.heard("STOPPING=1"));
  EXPECT_FALSE(std::filesystem::exists(world.socket()));
}

TEST(Daemon, reads_the_history_by_itself_and_serves_the_command_line) {
  const World world;
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
  const Outcome reconciled = world.clawmark({"reconcile", "--wait"});
  EXPECT_EQ(reconciled.code, 0) << reconciled.out << reconciled.err;
  EXPECT_THAT(world.clawmark({"search", "Mollie Stripe fees"}).out, HasSubstr("Mollie"));
  EXPECT_EQ(world.clawmark({"set", "pref.tea", "green"}).code, 0);
  EXPECT_THAT(world.clawmark({"facts"}).out, HasSubstr("pref.tea"));
  EXPECT_TRUE(get_bool(world.clawmark_json({"verify"}), "ok"));
  struct stat info{};
  ASSERT_EQ(::stat(world.socket().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
  EXPECT_THAT(world.clawmark({"facts"}).out,
              HasSubstr("pref.tea"));  // committed before it was acknowledged
  const json::object status = world.clawmark_json({"status"});
  const auto* workers = find_array(status, "workers");
  ASSERT_NE(workers, nullptr);
  for (const auto& worker : *workers) {
    EXPECT_LE(get_int(worker.as_object(), "lag"), 2) << to_text(worker);  // the last few words
  }
}

TEST(Daemon, C156_exactly_one_of_five_owns_the_store_whatever_it_is_called) {
  World world;
  std::filesystem::create_directories(world / ".local/share/clawmark");
  std::filesystem::create_directory_symlink(world / ".local/share/clawmark", world / "link");
  std::vector<std::unique_ptr<Process>> daemons;
  for (int i = 0; i < 5; ++i) {
    const std::string db = i % 2 == 0 ? world.db() : world / "link/clawmark.db";
    const std::string socket = world / ("s" + std::to_string(i));
    daemons.push_back(std::make_unique<Process>(
        "clawmarkd", std::vector<std::string>{"--db-path", db, "--socket", socket},
        world.environment()));
  }
  const auto alive = [&] {
    std::size_t count = 0;
    for (const auto& daemon : daemons) count += daemon->is_running() ? 1 : 0;
    return count;
  };
  EXPECT_TRUE(eventually([&] { return alive() == 1; }));
  for (const auto& daemon : daemons) {
    if (daemon->is_running()) continue;
    const Outcome loser = daemon->wait();
    EXPECT_EQ(loser.code, 75);
    EXPECT_THAT(loser.err, HasSubstr("clawmarkd pid"));
  }
  EXPECT_EQ(alive(), 1u);
}

TEST(Daemon, a_write_command_beside_a_daemon_on_another_socket_is_told_who_holds_the_store) {
  World world;
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
  const Outcome refused =
      world.clawmark({"--socket", world / "elsewhere", "set", "pref.tea", "green"});
  EXPECT_EQ(refused.code, 75);
  EXPECT_THAT(refused.err, HasSubstr("clawmarkd pid"));
}

TEST(Daemon, stays_up_inert_and_says_what_is_missing_until_it_is_corrected) {
  World world;
  NotifySocket systemd(world / "notify");
  world.extra = {{"NOTIFY_SOCKET", systemd.path()}};
  support::write_text(world / "config.json", R"({"embedding_url": "http://127.0.0.1:9"})");
  Process daemon("clawmarkd", {"--config", world / "config.json"}, world.environment());
  ASSERT_TRUE(eventually([&] { return systemd.heard("READY=1"); })) << daemon.err();
  EXPECT_TRUE(get_bool(status_of(world), "inert"));
  EXPECT_THAT(daemon.err(), HasSubstr("CLAWMARK_EMBEDDING_MODEL"));
  const auto inject = unix_request(world.socket(), "POST", "/v1/inject",
                                   R"({"caller":{"agent":"main"},"prompt":"x"})", 5000);
  ASSERT_TRUE(inject.ok());
  EXPECT_EQ(inject->status, 200);
  EXPECT_THAT(inject->body, HasSubstr("inert"));

  systemd.forget();
  support::write_text(world / "config.json", R"({"recall_limit": 4})");
  daemon.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return systemd.heard("READY=1"); })) << daemon.err();
  EXPECT_TRUE(systemd.heard("RELOADING=1"));
  const json::object status = status_of(world);
  EXPECT_TRUE(status.contains("inert"));
  EXPECT_FALSE(get_bool(status, "inert"));
}

TEST(Daemon, an_encoder_that_cannot_be_read_leaves_it_inert_and_named) {
  World world;
  NotifySocket systemd(world / "notify");
  support::write_text(world / "no-encoder", "not one");
  world.extra = {{"NOTIFY_SOCKET", systemd.path()},
                 {"CLAWMARK_ENCODER_FILE", world / "no-encoder"}};
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return systemd.heard("READY=1"); })) << daemon.err();
  EXPECT_TRUE(get_bool(status_of(world), "inert"));
  const Outcome status = world.clawmark({"status"});
  EXPECT_THAT(status.out, HasSubstr(world / "no-encoder"));
  EXPECT_THAT(status.out, HasSubstr("make_sentence_encoder"));
}

TEST(Daemon, a_reload_refuses_nobody) {
  World world;
  NotifySocket systemd(world / "notify");
  world.extra = {{"NOTIFY_SOCKET", systemd.path()}};
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return systemd.heard("READY=1"); })) << daemon.err();
  std::atomic<bool> done = false;
  std::atomic<int> asked = 0, refused = 0;
  std::thread asker([&] {
    while (!done) {
      ++asked;
      if (!answers(world)) ++refused;
    }
  });
  for (int i = 0; i < 3; ++i) {
    const int before = asked;
    systemd.forget();
    daemon.signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return systemd.heard("READY=1"); })) << daemon.err();
    EXPECT_TRUE(eventually([&] { return asked > before + 1; }));
  }
  done = true;
  asker.join();
  EXPECT_EQ(refused, 0) << "of " << asked;
}

TEST(Daemon, C167_a_bare_environment_is_enough) {
  const World world;
  const Process::Environment bare{{"CLAWMARK_DB_PATH", world / "d/clawmark.db"},
                                  {"CLAWMARK_SOCKET", world.socket()},
                                  {"CLAWMARK_STATE_DIR", world.state()}};
  std::filesystem::create_directories(std::filesystem::path(world.socket()).parent_path());
  Process daemon("clawmarkd", {}, bare);  // no HOME, no PATH, no locale
  ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
  const Outcome found = support::run("clawmark", {"reconcile", "--wait"}, bare);
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(support::run("clawmark", {"search", "café Morgenrot"}, bare).out, HasSubstr("café"));
}

TEST(Daemon, C169_credentials_of_endpoints_show_nowhere) {
  World world;
  world.extra = {{"CLAWMARK_EMBEDDING_URL", "http://user:pw-hidden@127.0.0.1:9/v1"},
                 {"CLAWMARK_EMBEDDING_MODEL", "m"},
                 {"CLAWMARK_EMBEDDING_API_KEY", "sk-EXAMPLE-hidden"},
                 {"CLAWMARK_LOG_LEVEL", "debug"}};
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
  const auto failing = [&] {
    return to_text(status_of(world)).find("transport") != std::string::npos ||
           to_text(status_of(world)).find("connect") != std::string::npos;
  };
  EXPECT_TRUE(eventually(failing)) << to_text(status_of(world));
  const std::string doctor = world.clawmark({"doctor"}).out;
  const std::string everything = daemon.err() + daemon.out() + to_text(status_of(world)) + doctor +
                                 world.clawmark({"--json", "events", "--limit", "1000"}).out +
                                 world.clawmark({"search", "Mollie"}).out +
                                 world.clawmark({"config", "show"}).out;
  EXPECT_THAT(everything, AllOf(Not(HasSubstr("pw-hidden")), Not(HasSubstr("sk-EXAMPLE-hidden"))));
}

TEST(Daemon, a_damaged_archive_is_named_and_the_store_is_told_with_its_log) {
  const World world;
  const std::string archive =
      world.state() + "/agents/main/sessions/gone.jsonl.deleted.2026-11-29T19-26-58.833Z.zst";
  support::write_text(archive, "garbage");
  const auto names_it = HasSubstr(archive + " (damaged)");
  const Outcome once = world.once();
  EXPECT_EQ(once.code, 0);
  EXPECT_THAT(once.out, names_it);
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return answers(world); }));
  const Outcome reconciled = world.clawmark({"reconcile", "--wait"});
  EXPECT_EQ(reconciled.code, 0);
  EXPECT_THAT(reconciled.out, names_it);
  EXPECT_THAT(world.clawmark({"status"}).out, AllOf(HasSubstr("source_unread"), names_it));
  const auto file = stat_file(world.db()), log = stat_file(world.db() + "-wal");
  ASSERT_TRUE(file && log && log->size > 0);
  const std::string doctor = world.clawmark({"doctor"}).out;
  EXPECT_THAT(doctor, HasSubstr(archive + " to its end: damaged"));
  const auto at = doctor.find(world.db() + ", ");
  ASSERT_NE(at, std::string::npos);
  std::string told = doctor.substr(at + world.db().size() + 2, 12);
  std::erase(told, ',');
  EXPECT_GE(std::strtoll(told.c_str(), nullptr, 10), (file->size + log->size) / 1024);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

TEST(Daemon, C164_the_first_start_says_what_the_whole_history_will_cost) {
  World world;
  world.extra["CLAWMARK_EXTRACT_URL"] = "http://127.0.0.1:9/v1";
  world.extra["CLAWMARK_EXTRACT_MODEL"] = "scripted";
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
  EXPECT_THAT(daemon.err(), HasSubstr("OpenClaw's history: "));
  EXPECT_THAT(daemon.err(), Not(HasSubstr("history: 0 messages")));
  EXPECT_THAT(daemon.err(), HasSubstr("daily_usd_max"));
}

TEST(Daemon, C180_a_blocked_hook_is_named_and_reading_goes_on) {
  const World world;
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
  const auto hello =
      unix_request(world.socket(), "POST", "/v1/hello",
                   R"({"plugin_version":"0.1.0","host_version":"2026.9.6","placement":{},
                                      "blocked_hooks":["before_prompt_build"]})",
                   5000);
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello->status, 200);
  EXPECT_EQ(world.clawmark({"reconcile", "--wait"}).code, 0);
  const json::object status = status_of(world);
  const auto* counts = find_object(status, "counts");
  ASSERT_NE(counts, nullptr);
  EXPECT_GT(get_int(*counts, "messages"), 90);
  EXPECT_THAT(to_text(status), HasSubstr("allowConversationAccess"));
  const Outcome doctor = world.clawmark({"doctor"});
  EXPECT_EQ(doctor.code, 1);
  EXPECT_THAT(doctor.out,
              AllOf(HasSubstr("before_prompt_build"), HasSubstr("allowConversationAccess true")));
}

TEST(Daemon, C173_another_user_cannot_connect) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const World world;
  Process daemon("clawmarkd", {}, world.environment());
  ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
  std::filesystem::permissions(world.home(), std::filesystem::perms(0711));
  const std::string script =
      "import socket,sys\ns=socket.socket(socket.AF_UNIX)\ntry:\n s.connect('" + world.socket() +
      "')\n sys.exit(0)\nexcept PermissionError:\n sys.exit(13)\n";
  if (!std::filesystem::exists("/usr/bin/setpriv") ||
      !std::filesystem::exists("/usr/bin/python3")) {
    GTEST_SKIP() << "needs setpriv and python3";
  }
  const Outcome other = support::run(
      "/usr/bin/setpriv",
      {"--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", script},
      world.environment());
  EXPECT_EQ(other.code, 13) << other.err;
}

TEST(Daemon, kill_minus_nine_loses_nothing_that_was_acknowledged) {
  const World world;
  {
    Process daemon("clawmarkd", {}, world.environment());
    ASSERT_TRUE(eventually([&] { return answers(world); })) << daemon.err();
    ASSERT_EQ(world.clawmark({"set", "pref.tea", "oolong"}).code, 0);
    daemon.signal(SIGKILL);
    daemon.wait();
  }
  EXPECT_THAT(world.clawmark({"facts"}).out, HasSubstr("oolong"));
  Process again("clawmarkd", {},
                world.environment());  // the socket file of the dead one is replaced
  ASSERT_TRUE(eventually([&] { return answers(world); })) << again.err();
  EXPECT_TRUE(get_bool(world.clawmark_json({"verify"}), "ok"));
}

}  // namespace
}  // namespace clawmark
