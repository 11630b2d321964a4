// Method: the real daemon keeps its store on a small file system of its own. It is filled to the
// last byte, the host goes on talking, and room is made again. Needs the right to mount.

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "base/files.h"
#include "cmd/unix_client.h"
#include "log/store.h"
#include "tests/cmd/process.h"
#include "tests/reliability/invariants.h"
#include "tests/reliability/report.h"
#include "tests/support/store_builder.h"

namespace clawmark::reliability {
namespace {

using support::Conversation;
using support::eventually;
using support::Process;
using support::TempDir;

class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    ::mkdir(path_.c_str(), 0700);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=8m,mode=0700") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  // To the last byte.
  void fill() const {
    std::ofstream file(path_ + "/ballast", std::ios::binary);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())) && file.flush()) {
    }
  }
  void make_room() const { ::unlink((path_ + "/ballast").c_str()); }

 private:
  std::string path_;
  bool mounted_ = false;
};

class FullDisk : public testing::Test {
 protected:
  json::object ask(const std::string& target, const json::object& body) {
    const auto answer = unix_request(socket_, "POST", target, to_text(body), 60'000);
    if (!answer.ok()) return {};
    auto parsed = parse_json(answer->body);
    return parsed.ok() && parsed->is_object() ? parsed->get_object() : json::object{};
  }
  std::string status() {
    const auto answer = unix_request(socket_, "GET", "/v1/status", "", 60'000);
    return answer.ok() && answer->status == 200 ? answer->body : "";
  }
  bool reconciled() {
    return to_text(ask("/v1/admin/reconcile", {{"params", {{"wait_ms", 2000}}}}))
               .find("\"done\":true") != std::string::npos;
  }
  bool state(const std::string& key, const std::string& value) {
    return get_bool(ask("/v1/admin/set", {{"params", {{"key", key}, {"value", value}}}}), "ok");
  }
  Conversation talk(std::uint64_t seed, std::size_t messages) {
    Conversation out = support::make_conversation({.seed = seed, .messages = messages});
    for (const auto& id : support::message_ids(out)) names_.emplace_back(out.agent, id);
    return out;
  }

  TempDir dir_;
  std::string socket_ = dir_ / "clawmark.sock", db_ = dir_ / "data/clawmark.db";
  EntryNames names_;
};

TEST_F(FullDisk, C158_the_service_reads_on_says_what_is_full_and_resumes_alone) {
  const SmallDisk disk(dir_ / "data");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a file system is not permitted here";
  support::AgentDbWriter host(dir_ / "state", "main");
  host.write(talk(1, 40));
  Process daemon("clawmarkd", {},
                 {{"HOME", dir_.path()},
                  {"PATH", "/usr/bin:/bin"},
                  {"TZ", "UTC"},
                  {"CLAWMARK_STATE_DIR", dir_ / "state"},
                  {"CLAWMARK_DB_PATH", db_},
                  {"CLAWMARK_SOCKET", socket_}});
  ASSERT_TRUE(eventually([&] { return reconciled(); })) << daemon.err();
  ASSERT_TRUE(state("user.note", "kept before"));

  disk.fill();
  for (std::uint64_t seed = 2; seed < 8; ++seed) host.write(talk(seed, 40));
  // Nothing is acknowledged that cannot be kept.
  EXPECT_TRUE(eventually([&] { return !state("user.later", std::string(1500, 'y')); }));
  EXPECT_TRUE(eventually([&] { return status().find("full") != std::string::npos; })) << status();
  EXPECT_NE(status().find(dir_ / "data"), std::string::npos) << "says where";
  EXPECT_NE(status().find("disk_full"), std::string::npos) << status();
  EXPECT_TRUE(daemon.is_running()) << daemon.err();
  const json::object caller{
      {"agent", "main"}, {"session_key", "agent:main:main"}, {"trigger", "user"}};
  EXPECT_FALSE(ask("/v1/inject", {{"caller", caller}, {"prompt", "what did we say?"}}).empty());
  EXPECT_NE(to_text(ask("/v1/tools/clawmark_search",
                        {{"caller", caller}, {"params", {{"query", "note kept"}}}}))
                .find("text"),
            std::string::npos);

  disk.make_room();
  ASSERT_TRUE(eventually([&] { return reconciled(); })) << status();
  EXPECT_TRUE(state("user.later", "kept after"));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0) << daemon.err();

  ManualClock clock;
  StoreOptions where;
  where.path = db_;
  auto store = Store::open(where, clock);
  ASSERT_TRUE(store.ok()) << describe(store.error());
  EXPECT_EQ(store->db().query_text("PRAGMA integrity_check").value(), "ok");
  Violations found = check_log(store->db());
  add(found, check_observed_once(store->db(), names_));
  EXPECT_TRUE(found.empty()) << joined(found);
  EXPECT_EQ(store->db().query_text("SELECT value FROM facts WHERE key = 'user.note'").value(),
            "kept before");
  report({"disk filled to the last byte", 1, 1, static_cast<std::int64_t>(found.size()),
          std::to_string(names_.size()) + " entries, the real daemon on a file system of its own"});
}

}  // namespace
}  // namespace clawmark::reliability
