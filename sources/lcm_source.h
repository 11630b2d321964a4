#pragma once
// The database of lossless-claw (LCM): one stream per conversation row, key
// "conv:<conversation_id>".
//
// Position: {"m":last message_id,"n":rows,"s":sum of ids} of what was read; anchor:
// {"q":sqlite_sequence, "t":[[id,hash],…]} of the last 16 rows. Ids grow with each insert, except
// after a restore, which the anchor shows ("restored": goes on after the highest row that is still
// the same). Rows that were moved here from another conversation show in count and sum
// ("rewritten").
//
// The text of an entry is `content` as stored, so that its hash can be checked; forms of it that
// other carriers hold are in other_hashes. Rows stored twice come as aliases.

#include <string>
#include <vector>

#include "sources/source.h"

namespace clawmark {

class LcmSource final : public MessageSource {
 public:
  // `files_dir`: where externalised payloads lie (LCM's largeFilesDir). `clock` outlives the
  // source.
  LcmSource(std::string path, std::string files_dir, std::vector<std::string> ignore_sessions,
            const Clock& clock);

  std::string_view carrier() const override { return "lcm"; }
  std::string path() const override { return path_; }
  SourceHealth validate() override;
  Result<std::vector<StreamInfo>> streams() override;
  Result<StreamBatch> read(const StreamInfo& stream, const StreamPosition& after,
                           std::size_t items_max) override;
  std::vector<std::optional<std::string>> bodies(std::span<const Wanted> wanted) override;
  std::string change_token() override;

 private:
  std::string path_, files_dir_;
  std::vector<std::string> ignore_;
  const Clock& clock_;
};

}  // namespace clawmark
