#pragma once
// What schema a file has, how it is brought up to date, and whether its real shape is what its
// version promises.

#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "schema/schema.h"

namespace clawmark {

// The version in table schema_version; 0 for an empty database. Error: fatal "not_a_store" for a
// database of someone else.
Result<int> schema_version(Database& db);

// The version of a closed store's file without touching it: no side file is made or changed.
// 0: there is no file or it is empty.
Result<int> inspect_schema_version(const std::string& path);

// The backup of the highest version beside the store; empty when there is none.
std::string newest_backup(const std::string& path);

// Error: fatal, stage "store", "schema_newer": names both versions and the newest backup.
Error newer_schema_error(const std::string& path, int found, int known);

// Copies the database to `<path>.v<version>.bak` (mode 0600, synced, renamed into place). The copy
// is complete or absent.
Status back_up(Database& db, const std::string& path, int version);

// Applies what is missing, each migration in a transaction of its own. Error: fatal, stage "store",
// "migration": names the number; the transaction of that migration is rolled back.
Status migrate(Database& db, std::span<const Migration> schema, const Clock& clock);

// Compares with what the migrations make of an empty database. Missing or altered triggers and
// missing indexes are made again; anything else that is missing or other: fatal "schema_shape",
// one message that names all of it. Further tables and columns are nobody's harm.
Status check_shape(Database& db, std::span<const Migration> schema);

}  // namespace clawmark
