#pragma once
// Queries of the LCM reader: rows of a conversation, the check of a saved position, copies of a
// row.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sources/lcm_schema.h"
#include "sources/source.h"

namespace clawmark {

struct LcmRow {
  std::int64_t id = 0, seq = 0;
  std::string role, content, created_at;
  std::string entry_id, identity_hash, sender;
  bool has_parts = false;
  std::vector<ToolCall> tools;
  std::string call_id;             // of a tool's result
  std::string part_text;           // text parts joined by '\n', when that differs from content
  std::vector<std::string> files;  // storage_uri of externalised payloads that are the whole text
  std::string alias_of;            // set: the same message stands in an earlier row
};

struct LcmTail {
  std::int64_t last = 0, rows = 0, sum = 0, sequence = 0;
  std::vector<std::pair<std::int64_t, std::string>> newest;  // id, hash of role and content
  std::int64_t gone = 0;  // of what was read, rows no longer in the conversation; not stored
};
LcmTail parse_lcm_tail(const StreamPosition& position);
void store_lcm_tail(const LcmTail& tail, StreamPosition& position);
std::string lcm_row_hash(std::string_view role, std::string_view content);

// Is what was read still there? Corrects `tail` to the row after which reading goes on, counts what
// is gone; gives the reason of a new epoch, or nothing.
Result<std::string> check_lcm_tail(Database& db, const LcmSchema& schema, std::int64_t conversation,
                                   LcmTail& tail);

struct LcmRead {
  std::vector<LcmRow> rows;
  bool at_end = true;
  std::int64_t newest_id = 0;  // of the whole database
};
Result<LcmRead> read_lcm_rows(Database& db, const LcmSchema& schema, std::int64_t conversation,
                              std::int64_t after, std::size_t items_max, const Clock& clock);
// Marks rows that repeat an earlier one: same conversation, role, second and identity hash, or same
// entry id and content within the session's family.
Status mark_lcm_copies(Database& db, const LcmSchema& schema, const StreamInfo& stream,
                       std::int64_t conversation, std::vector<LcmRow>& rows);

}  // namespace clawmark
