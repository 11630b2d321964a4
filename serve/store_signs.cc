#include "serve/store_signs.h"

#include "base/disk.h"
#include "base/files.h"
#include "log/cursor.h"
#include "log/event_log.h"
#include "projections/overview.h"
#include "projections/search.h"

namespace clawmark {
namespace {

constexpr std::int64_t kDiskLeastBytes = 256 * 1024;  // under which a commit may not fit

bool is_damage(const Error& error) {
  return error.stage == "sqlite" && (error.reason == "corrupt" || error.reason == "notadb");
}

// What the first read that meets damage says; empty: none does.
std::string damage_met(Database& db) {
  std::string found;
  const auto note = [&](const auto& read) {
    if (found.empty() && !read.ok() && is_damage(read.error())) found = describe(read.error());
  };
  note(read_overview(db));
  note(read_source_states(db));
  note(search_counts(db));
  note(read_filtered(db));
  note(read_skipped(db, 1));
  note(read_parked(db, 1));
  note(count_unread(db));
  note(list_cursors(db));
  note(EventLog::head(db));
  return found;
}

void look_for_stopped(Database& db, std::vector<Sign>& out) {
  constexpr std::size_t kTold = 3;
  const auto rows = read_stopped(db, kTold + 1);
  if (!rows.ok() || rows->empty()) return;
  std::string files;
  for (std::size_t i = 0; i < rows->size() && i < kTold; ++i) {
    files += (i == 0 ? "" : "; ") + (*rows)[i].file + " (" + (*rows)[i].reason + ")";
  }
  if (rows->size() > kTold) files += "; and more, see clawmark doctor";
  out.push_back({"source_unread", "", "cannot be read to the end: " + files});
}

}  // namespace

bool says_damage(std::string_view failure) {
  return failure.find("sqlite/corrupt") != std::string_view::npos ||
         failure.find("sqlite/notadb") != std::string_view::npos;
}

void look_for_set_aside(Database& db, std::vector<Sign>& out) {
  look_for_stopped(db, out);
  if (const auto parked = read_parked(db, 1); parked.ok() && !parked->empty()) {
    out.push_back({"parked", "", "some items were set aside; see: clawmark parked list"});
  }
}

void look_for_damage(Serving& serving, Database& db, std::vector<Sign>& out) {
  const std::string damage =
      serving.health.damage(serving.clock.steady_ms(), [&] { return damage_met(db); });
  if (!damage.empty()) out.push_back({"store", "", "the store is damaged: " + damage});
}

void look_at_folders(const Config& config, std::vector<Sign>& out) {
  const std::string folder = dir_name(config.db_path);
  const auto left = free_bytes(folder);
  if (left && *left < kDiskLeastBytes) {
    out.push_back({"disk_full", folder,
                   "no space is left for the memory in " + folder + " (" +
                       std::to_string(*left / 1024) + " KiB): nothing new can be kept"});
  }
  const bool elsewhere = !config.transcripts_dir.empty() || !config.lcm_db_path.empty();
  if (!elsewhere && !config.state_dir.empty() && !stat_file(config.state_dir)) {
    out.push_back({"source_absent", config.state_dir,
                   "there is no folder " + config.state_dir +
                       ", where OpenClaw's history is to be (state_dir, CLAWMARK_STATE_DIR)"});
  }
}

}  // namespace clawmark
