#pragma once
// Transcript files, the live store before OpenClaw 2026.8, and the archives that later versions
// leave. Names: sources/transcript_files.h.
//
// Position: {"o":offset,"l":lines,"c":chain,"t":tip,"b":branched}; anchor: {"n":bytes,"h":hash} of
// the end of the last line and {"i","z","m"} inode, size and time of the file. All are of the
// content, decompressed.

#include <map>
#include <string>
#include <vector>

#include "sources/source.h"
#include "sources/transcript_files.h"

namespace clawmark {

class TranscriptSource final : public MessageSource {
 public:
  // `folders`: the sessions folder first, then further ones with archives.
  TranscriptSource(std::vector<std::string> folders, std::string agent,
                   std::vector<std::string> ignore_sessions);

  std::string_view carrier() const override { return "transcripts"; }
  std::string path() const override { return folders_.front(); }
  SourceHealth validate() override;
  Result<std::vector<StreamInfo>> streams() override;
  Result<StreamBatch> read(const StreamInfo& stream, const StreamPosition& after,
                           std::size_t items_max) override;
  std::vector<std::optional<std::string>> bodies(std::span<const Wanted> wanted) override;
  std::string change_token() override;

 private:
  const TranscriptFile* find(const std::string& key);
  void list();

  std::vector<std::string> folders_;
  std::string agent_;
  std::vector<std::string> ignore_;
  std::map<std::string, TranscriptFile> files_;  // by stream key, as listed last
  std::vector<std::string> notes_;
};

}  // namespace clawmark
