#include "cmd/source_options.h"

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

}  // namespace clawmark
