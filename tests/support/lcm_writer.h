#pragma once
// Writes an LCM database as version 0.15.3 does: conversations, messages, message_parts, summaries;
// WAL.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/conversation.h"
#include "tests/support/host_db.h"

namespace clawmark::support {

class LcmWriter {
 public:
  explicit LcmWriter(std::string path);

  // A conversation row and its messages (chat and tool results; marks and other items are not
  // stored by LCM). Returns conversation_id.
  std::int64_t write(const Conversation& conversation, bool with_entry_ids = true);
  // Items from index `first` on, for a conversation that was written.
  void append(const Conversation& conversation, std::size_t first, bool with_entry_ids = true);
  // A leaf summary over messages with seq from..to of a conversation. Returns summary_id.
  std::string summarize(std::int64_t conversation_id, std::int64_t from_seq, std::int64_t to_seq,
                        const std::string& text);
  // Archives the active row: cause manual-reset, session-end, session-deleted, ….
  void archive(std::int64_t conversation_id, const std::string& cause, std::int64_t ms);
  void checkpoint();
  HostDb& db() { return *db_; }
  const std::string& path() const { return path_; }

 private:
  void add_message(std::int64_t conversation_id, const Conversation& conversation, const Item& item,
                   bool with_entry_id);
  void add_parts(std::int64_t message_id, const Conversation& conversation, const Item& item);

  std::string path_;
  Ids ids_;
  std::unique_ptr<HostDb> db_;
  std::map<std::string, std::int64_t> conversations_;  // session id → conversation_id
};

}  // namespace clawmark::support
