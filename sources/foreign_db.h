#pragma once
// The host's SQLite files, beside a host that writes them: opened, read in one short transaction,
// closed.
//
// Rules (measured in the LCM reference, section 3):
// * Never a write, checkpoint or VACUUM; no connection is kept between calls.
// * With side files (-wal, -shm, -journal) the file is live: mode=ro, never immutable.
// * Without side files nobody has it open. An ordinary read-only connection would make -wal and
// -shm and leave
//   them there (as another user even lock the host out), so the file is read immutable, and the
//   read counts only if afterwards there are still no side files and size, time and inode are as
//   before; otherwise it is busy.
// * Refused, with the remedy: network file systems; live files whose side files we could not use.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "sources/source.h"

namespace clawmark {

// What can be said without opening the file. state kOk: may be opened.
SourceHealth check_foreign_file(const std::string& path);

// Runs `read` inside one read transaction. Error: stage "source", reason of SourceHealth (state by
// health_of_error), or what `read` returned.
Status with_foreign_db(const std::string& path, const std::function<Status(Database&)>& read);

// How an error of the above shows in health.
SourceHealth health_of_error(const Error& error, const std::string& path);

// Device, inode, size and time in nanoseconds of the file and its -wal; "" when it is not there or
// changed less than `settle_ms` ago, as a further change might then not show.
constexpr std::int64_t kSettleMs = 2000;  // kernel time stamps are coarser than a write
std::string foreign_change_token(const std::string& path, std::int64_t settle_ms = kSettleMs);

// Columns of a table by name, "name type" each; empty when it is not a table.
Result<std::vector<std::string>> table_columns(Database& db, std::string_view table);
bool has_column(const std::vector<std::string>& columns, std::string_view name);
// SHA-256 (16 hex digits) over "table name type" lines of the given tables.
Result<std::string> schema_fingerprint(Database& db, std::span<const std::string_view> tables);

}  // namespace clawmark
