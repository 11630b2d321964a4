#include "cmd/source_options.h"

#include <unistd.h>

#include "base/files.h"

namespace clawmark {

SourceOptions source_options(const Config& config) {
  SourceOptions options;
  if (config.source == "lcm") options.choice = SourceChoice::kLcm;
  if (config.source == "transcripts") options.choice = SourceChoice::kTranscripts;
  if (config.source == "agent-db") options.choice = SourceChoice::kAgentDb;
  options.state_dir = config.state_dir;
  options.transcripts_dir = config.transcripts_dir;
  options.lcm_path = config.lcm_db_path;
  options.ignore_sessions = config.ignore_sessions;
  return options;
}

std::string unreadable_agents(const Config& config) {
  std::string folder = join_path(config.state_dir, "agents");
  if (!stat_file(folder) || ::access(folder.c_str(), R_OK | X_OK) == 0) return {};
  return folder;
}

}  // namespace clawmark
