#include "projections/large_files.h"

#include <algorithm>
#include <set>

#include "projections/graph_rows.h"
#include "projections/messages.h"

namespace clawmark {
namespace {

// More rows are looked at than are asked for: of several messages one may be seen.
constexpr std::size_t kLookedMax = 2000;

Result<std::vector<LargeFileRow>> read_rows(Database& db, const FileScope& scope, const char* where,
                                            std::string_view name) {
  std::vector<LargeFileRow> rows;
  CLAWMARK_TRY(for_rows(
      db,
      std::string(
          "SELECT f.id, f.name, f.mime, f.kind, f.summary, f.bytes, f.tokens, f.start, "
          "f.whole, f.message, f.said_ms FROM graph_files f WHERE f.agent = ?1 AND f.said_ms "
          "<= ?2 AND f.seq <= ?3 AND ") +
          where + " ORDER BY f.said_ms DESC, f.message DESC, f.start LIMIT ?5",
      [&](Statement& row) {
        LargeFileRow file;
        file.id = row.string(0);
        file.name = row.string(1);
        file.mime = row.string(2);
        file.kind = row.string(3);
        file.summary = row.string(4);
        file.bytes = row.integer(5);
        file.tokens = row.integer(6);
        file.start = row.integer(7);
        file.whole = row.integer(8) != 0;
        file.message = {row.integer(9)};
        file.said = row.time(10);
        rows.push_back(std::move(file));
      },
      scope.agent, scope.last_said, scope.last_seq, name, kLookedMax));
  return rows;
}

// Leaves those of messages that stand and that the caller may see, and adds what is known of them.
Status keep_visible(Database& db, const FileScope& scope, std::vector<LargeFileRow>& rows) {
  std::vector<Seq> asked;
  for (const auto& row : rows) asked.push_back(row.message);
  CLAWMARK_ASSIGN(const auto messages, read_messages(db, asked));
  std::erase_if(rows, [&](LargeFileRow& file) {
    const auto found = std::find_if(messages.begin(), messages.end(),
                                    [&](const MessageRow& row) { return row.seq == file.message; });
    if (found == messages.end() || found->state != "active" || found->agent != scope.agent) {
      return true;
    }
    file.role = found->role;
    file.speaker = found->speaker;
    file.session_id = found->session_id;
    file.entry_id = found->entry_id;
    file.message_hash = found->hash;
    return std::find(scope.audiences.begin(), scope.audiences.end(), found->audience) ==
           scope.audiences.end();
  });
  return Ok{};
}

}  // namespace

Result<std::vector<LargeFileRow>> list_large_files(Database& db, const FileScope& scope,
                                                   std::size_t limit) {
  CLAWMARK_ASSIGN(auto rows, read_rows(db, scope, "?4 = ''", ""));
  CLAWMARK_TRY(keep_visible(db, scope, rows));
  std::set<std::string> seen;
  std::erase_if(rows, [&](const LargeFileRow& row) { return !seen.insert(row.id).second; });
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

Result<std::optional<LargeFileRow>> find_large_file(Database& db, const FileScope& scope,
                                                    std::string_view id) {
  CLAWMARK_ASSIGN(auto rows, read_rows(db, scope, "f.id = ?4", id));
  CLAWMARK_TRY(keep_visible(db, scope, rows));
  if (rows.empty()) return std::optional<LargeFileRow>{};
  return std::optional<LargeFileRow>(std::move(rows.front()));
}

Result<std::vector<LargeFileRow>> large_files_of_text(Database& db, const FileScope& scope,
                                                      const Hash256& text) {
  CLAWMARK_ASSIGN(auto rows, read_rows(db, scope, "f.text_hash = ?4", to_hex(text)));
  CLAWMARK_TRY(keep_visible(db, scope, rows));
  // Several messages of one text hold the same contents: those of one are all.
  std::erase_if(rows, [&](const LargeFileRow& row) { return row.message != rows.front().message; });
  return rows;
}

}  // namespace clawmark
