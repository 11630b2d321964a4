// The real shape of a store against the one its migrations make (check_shape).

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/logging.h"
#include "log/schema_state.h"

namespace clawmark {
namespace {

// Everything that a table or an object is compared by, as text: "column pos INTEGER not null".
struct Shape {
  std::map<std::string, std::vector<std::string>> tables;  // name → columns, keys, uniqueness
  std::map<std::string, std::string> triggers, indexes;    // name → SQL
};

Result<std::vector<std::string>> texts(Database& db, std::string_view sql,
                                       const std::string& argument) {
  CLAWMARK_ASSIGN(auto query, db.prepare(sql));
  query.with(argument);
  std::vector<std::string> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query.step());
    if (!row) return out;
    out.push_back(query.string(0));
  }
}

Result<std::vector<std::string>> table_parts(Database& db, const std::string& table) {
  CLAWMARK_ASSIGN(
      auto parts,
      texts(db,
            "SELECT 'column ' || name || ' ' || type || iif(\"notnull\", ' not null', '')"
            " || iif(pk, ' key ' || pk, '') FROM pragma_table_xinfo(?)",
            table));
  CLAWMARK_ASSIGN(const auto keys,
                  texts(db,
                        "SELECT 'foreign key ' || \"from\" || ' to ' || \"table\" || '(' || \"to\""
                        " || ')' FROM pragma_foreign_key_list(?)",
                        table));
  CLAWMARK_ASSIGN(const auto unique,
                  texts(db,
                        "SELECT 'unique (' || (SELECT group_concat(name) FROM"
                        " pragma_index_info(l.name)) || ')' FROM pragma_index_list(?) AS l"
                        " WHERE origin = 'u'",
                        table));
  parts.insert(parts.end(), keys.begin(), keys.end());
  parts.insert(parts.end(), unique.begin(), unique.end());
  return parts;
}

// `only`: look at these tables and no others (a store also holds the projections' tables).
Result<Shape> read_shape(Database& db, const Shape* only) {
  Shape out;
  CLAWMARK_ASSIGN(auto query, db.prepare("SELECT type, name, sql FROM sqlite_schema"
                                         " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"));
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query.step());
    if (!row) break;
    const std::string type = query.string(0);
    const std::string name = query.string(1);
    if (type == "trigger") out.triggers[name] = query.string(2);
    if (type == "index") out.indexes[name] = query.string(2);
    if (type == "table" && (only == nullptr || only->tables.contains(name))) out.tables[name] = {};
  }
  for (auto& [name, parts] : out.tables) {
    CLAWMARK_ASSIGN(parts, table_parts(db, name));
  }
  return out;
}

Result<Shape> shape_of(std::span<const Migration> schema) {
  CLAWMARK_ASSIGN(auto model, Database::open_memory());
  for (const Migration& migration : schema) {
    CLAWMARK_TRY(model.exec(std::string(migration.sql)));
  }
  return read_shape(model, nullptr);
}

// The program's own schema is the same at every opening: its shape is made once.
Result<Shape> expected_shape(std::span<const Migration> schema) {
  if (schema.data() != migrations().data() || schema.size() != migrations().size()) {
    return shape_of(schema);
  }
  static const Result<Shape> kOwn = shape_of(migrations());
  return kOwn;
}

std::string missing_parts(const Shape& expected, const Shape& real) {
  std::string missing;
  const auto add = [&](const std::string& what) {
    missing.append(missing.empty() ? "" : ", ").append(what);
  };
  for (const auto& [table, parts] : expected.tables) {
    const auto found = real.tables.find(table);
    if (found == real.tables.end()) {
      add("table " + table);
      continue;
    }
    for (const std::string& part : parts) {
      if (std::find(found->second.begin(), found->second.end(), part) == found->second.end()) {
        add(table + ": " + part);
      }
    }
  }
  return missing;
}

using SqlByName = std::map<std::string, std::string>;

bool holds(const SqlByName& expected, const SqlByName& real) {
  return std::all_of(expected.begin(), expected.end(), [&](const auto& object) {
    const auto found = real.find(object.first);
    return found != real.end() && found->second == object.second;
  });
}

Status restore(Database& db, const char* type, const SqlByName& expected, const SqlByName& real) {
  for (const auto& [name, sql] : expected) {
    const auto found = real.find(name);
    if (found != real.end() && found->second == sql) continue;
    log_warning("store", std::string(type) + " " + name + " was missing or altered: made again");
    CLAWMARK_TRY(db.exec(std::string("DROP ") + type + " IF EXISTS " + name));
    CLAWMARK_TRY(db.exec(sql));
  }
  return Ok{};
}

}  // namespace

Status check_shape(Database& db, std::span<const Migration> schema) {
  CLAWMARK_ASSIGN(const Shape expected, expected_shape(schema));
  CLAWMARK_ASSIGN(const Shape real, read_shape(db, &expected));
  const std::string missing = missing_parts(expected, real);
  if (!missing.empty()) {
    return make_error(ErrorKind::kFatal, "store", "schema_shape",
                      db.path() + " is not shaped as its schema version says; missing or other: " +
                          missing + ". Put back a backup, or move the file away to start anew");
  }
  if (holds(expected.triggers, real.triggers) && holds(expected.indexes, real.indexes)) return Ok{};
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(db, Durability::kFull));
  CLAWMARK_TRY(restore(db, "INDEX", expected.indexes, real.indexes));
  CLAWMARK_TRY(restore(db, "TRIGGER", expected.triggers, real.triggers));
  // While the counting trigger was away, rows may have come: count them once more. Fewer rows than
  // counted stay an error (check_dense).
  CLAWMARK_TRY(
      db.run("UPDATE log_counter SET events = max(events, (SELECT count(*) FROM events))"));
  return txn.commit();
}

}  // namespace clawmark
