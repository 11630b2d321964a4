#pragma once
// Pure folds over the log. A projection reads events and its own tables; it never calls a model,
// reads a clock or touches a source. Tables carry their generation in the name (facts__g1); a view
// with the plain name points at the live one, so that a new generation can be built beside it and
// swapped in one transaction.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/body_store.h"
#include "log/event.h"

namespace clawmark {

class Projection {
 public:
  virtual ~Projection() = default;
  virtual std::string_view name() const = 0;  // "facts", "messages", "search"
  virtual int fold_version() const = 0;  // raised when the fold's meaning changes: rebuild at start
  // Tables, as SQL for a generation; idempotent.
  virtual std::string ddl(int generation) const = 0;
  // DROP VIEW IF EXISTS + CREATE VIEW for the plain names.
  virtual std::string views(int generation) const = 0;
  virtual std::string drop(int generation) const = 0;
  // Event types it reads; others are skipped without a call. Empty: all.
  virtual std::span<const std::string_view> types() const = 0;
  // Called before the transaction of apply() with the same events, outside any transaction: what
  // must be asked of others (texts) is asked here.
  virtual Status prepare(Database& db, int generation, std::span<const Event> events);
  // Folds events in seq order. Same events, same state, whatever the batch borders.
  virtual Status apply(Transaction& txn, int generation, std::span<const Event> events) = 0;
  // Over the logical content, in a fixed order; equal states give equal digests.
  virtual Result<Hash256> digest(Database& db, int generation) const = 0;
  // False for a projection that also needs texts which may be gone: its digest proves nothing.
  virtual bool replayable() const { return true; }
  // Drops a generation's tables, also damaged ones.
  virtual Status drop_tables(Database& db, int generation) const;
  // What is wrong inside the generation's tables, for people; empty: well.
  virtual Result<std::vector<std::string>> check(Database& db, int generation) const;
};

// Thresholds and rules that live in the fold: changing them and rebuilding replays history under
// new rules.
struct FoldOptions {
  double confidence_threshold = 0.8;
};

std::unique_ptr<Projection> make_facts_projection(const FoldOptions& options);
std::unique_ptr<Projection> make_messages_projection();
// Raw text to the only form that may be indexed (sources/text_cleaner: presentable_text).
using Presentable = std::function<std::string(std::string_view raw)>;
// Needs bodies: excluded from digests of rebuild; texts that are gone are kept out and counted.
std::unique_ptr<Projection> make_search_projection(BodyStore& bodies, Presentable presentable);

}  // namespace clawmark
