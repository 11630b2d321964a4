#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "sources/agent_db_source.h"
#include "sources/lcm_source.h"
#include "sources/source.h"
#include "sources/stream_tools.h"
#include "sources/transcript_source.h"

namespace clawmark {
namespace {

constexpr int kPreferLcm = 0, kPreferAgentDb = 1, kPreferTranscripts = 2;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

std::string state_dir_of(const SourceOptions& options) {
  if (!options.state_dir.empty()) return expand_home(options.state_dir);
  if (const auto dir = environment("OPENCLAW_STATE_DIR"); !dir.empty()) return expand_home(dir);
  return join_path(home_dir(), ".openclaw");
}

struct LcmPaths {
  std::string database, files;
  bool given = false;  // named by someone: shown in status even when it is not there
};

// plugins.entries.lossless-claw.config of openclaw.json; empty when there is none or it is not
// readable as JSON.
json::object lcm_config(const std::string& state_dir) {
  auto path = environment("OPENCLAW_CONFIG_PATH");
  if (path.empty() || !path.starts_with('/')) path = join_path(state_dir, "openclaw.json");
  const auto text = read_file(path, 4u << 20);
  if (!text.ok()) return {};
  const auto root = parse_json_relaxed(*text);
  if (!root.ok() || !root->is_object()) return {};
  const json::object* at = &root->get_object();
  for (const std::string_view key : {"plugins", "entries", "lossless-claw", "config"}) {
    at = find_object(*at, key);
    if (at == nullptr) return {};
  }
  return *at;
}

// LCM resolves a relative path, and a leading ~, against the gateway's folder; its command line
// expands ~. What exists counts.
std::string existing(const std::string& path, const std::string& state_dir) {
  for (const auto& candidate : {expand_home(path), join_path(state_dir, path)}) {
    if (stat_file(candidate)) return candidate;
  }
  return expand_home(path);
}

LcmPaths lcm_paths(const SourceOptions& options, const std::string& state_dir) {
  LcmPaths out;
  const auto config = lcm_config(state_dir);
  std::string named = options.lcm_path;
  if (named.empty()) named = environment("LCM_DATABASE_PATH");
  if (named.empty()) named = get_string(config, "dbPath");
  if (named.empty()) named = get_string(config, "databasePath");
  out.given = !named.empty();
  if (named.find(":memory:") != std::string::npos) return out;  // no file
  out.database = out.given ? existing(named, state_dir) : join_path(state_dir, "lcm.db");
  std::string files = environment("LCM_LARGE_FILES_DIR");
  if (files.empty()) files = get_string(config, "largeFilesDir");
  if (files.empty()) files = join_path(dir_name(out.database), "lcm-files");
  if (!stat_file(files)) files = join_path(state_dir, "lcm-files");
  out.files = expand_home(files);
  return out;
}

// The agent in …/agents/<id>/sessions; else "main".
std::string agent_of_folder(const std::string& folder) {
  const auto above = dir_name(folder);
  if (base_name(folder) == "sessions" && base_name(dir_name(above)) == "agents") {
    return base_name(above);
  }
  return "main";
}

bool wanted(SourceChoice choice, SourceChoice one) {
  return choice == SourceChoice::kAuto || choice == one;
}

}  // namespace

std::string_view to_string(SourceState state) {
  switch (state) {
    case SourceState::kOk:
      return "ok";
    case SourceState::kAbsent:
      return "absent";
    case SourceState::kNotInitialised:
      return "not_initialised";
    case SourceState::kBusy:
      return "busy";
    case SourceState::kIncompatible:
      return "incompatible";
    case SourceState::kBroken:
      return "broken";
    case SourceState::kStale:
      return "stale";
    case SourceState::kForbidden:
      return "forbidden";
  }
  return "broken";
}

std::vector<OpenSource> discover_sources(const SourceOptions& options, const Clock& clock) {
  std::vector<OpenSource> out;
  const auto state_dir = state_dir_of(options);
  const auto& ignore = options.ignore_sessions;
  if (wanted(options.choice, SourceChoice::kLcm)) {
    const auto paths = lcm_paths(options, state_dir);
    if (!paths.database.empty() && (paths.given || stat_file(paths.database))) {
      out.push_back({std::make_unique<LcmSource>(paths.database, paths.files, ignore, clock), "",
                     kPreferLcm});
    }
  }
  const auto agents_dir = join_path(state_dir, "agents");
  std::set<std::string> folders_read;
  for (const auto& agent : list_dir(agents_dir)) {
    const auto folder = join_path(agents_dir, agent);
    const auto info = stat_file(folder);
    if (!info || !info->is_directory) continue;
    const auto database = join_path(folder, "agent/openclaw-agent.sqlite");
    if (wanted(options.choice, SourceChoice::kAgentDb) && stat_file(database)) {
      out.push_back(
          {std::make_unique<AgentDbSource>(database, agent, ignore, clock), agent, kPreferAgentDb});
    }
    const std::vector<std::string> folders = {join_path(folder, "sessions"),
                                              join_path(folder, "session-sqlite-import-archive")};
    const bool any = std::any_of(folders.begin(), folders.end(),
                                 [](const std::string& f) { return stat_file(f).has_value(); });
    if (wanted(options.choice, SourceChoice::kTranscripts) && any) {
      folders_read.insert(folders.front());
      out.push_back(
          {std::make_unique<TranscriptSource>(folders, agent, ignore), agent, kPreferTranscripts});
    }
  }
  if (!options.transcripts_dir.empty() && wanted(options.choice, SourceChoice::kTranscripts)) {
    const auto folder = expand_home(options.transcripts_dir);
    const auto agent = agent_of_folder(folder);
    if (!folders_read.contains(folder)) {
      out.push_back(
          {std::make_unique<TranscriptSource>(std::vector<std::string>{folder}, agent, ignore),
           agent, kPreferTranscripts});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const OpenSource& a, const OpenSource& b) {
    return a.preference < b.preference;
  });
  return out;
}

}  // namespace clawmark
