#pragma once
// OpenClaw's agent database, the live store since 2026.8: one stream per session, one per archive.
//
// Stream keys: "session:<id>", "archive:<id>:<generation>", "cold:<id>", "tombstone:<id>".
// Position of a session: {"g":generation,"s":last seq}; anchor: hash of the payload at that seq.
// Another generation, fewer rows or another payload there start a new epoch. Position of an
// archive: {"o":offset,"l":lines}.

#include <string>
#include <vector>

#include "sources/source.h"

namespace clawmark {

class AgentDbSource final : public MessageSource {
 public:
  // `path` of openclaw-agent.sqlite; `clock` outlives the source.
  AgentDbSource(std::string path, std::string agent, std::vector<std::string> ignore_sessions,
                const Clock& clock);

  std::string_view carrier() const override { return "agent-db"; }
  std::string path() const override { return path_; }
  SourceHealth validate() override;
  Result<std::vector<StreamInfo>> streams() override;
  Result<StreamBatch> read(const StreamInfo& stream, const StreamPosition& after,
                           std::size_t items_max) override;
  std::vector<std::optional<std::string>> bodies(std::span<const Wanted> wanted) override;
  std::string change_token() override;

 private:
  Result<StreamBatch> read_session(const StreamInfo& stream, const StreamPosition& after,
                                   std::size_t items_max);
  Result<StreamBatch> read_archive(const StreamInfo& stream, const StreamPosition& after,
                                   std::size_t items_max);
  std::optional<std::string> body(const Wanted& wanted);

  std::string path_, agent_;
  std::vector<std::string> ignore_;
  const Clock& clock_;
};

}  // namespace clawmark
