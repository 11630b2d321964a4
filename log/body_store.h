#pragma once
// Where message text is found: the vault, else the source by entry id, else gone. The hash in the
// event proves that it is what was seen.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "base/sqlite.h"
#include "log/event.h"

namespace clawmark {

// Which texts get a copy in the vault: none; all; those of carriers that the host rewrites, so that
// what it leaves out there is not lost.
enum class Retention { kReference, kVerbatim, kRewritten };

// Whether the host rewrites a carrier of this name in ordinary use (docs/decisions/0014).
bool is_rewritten_by_host(std::string_view carrier);

// Where a carrier keeps one message. Opaque to everyone but the source that made it.
struct Locator {
  std::string carrier;  // "agent-db", "transcripts", "lcm"
  std::string stream;   // the source's stream key
  std::string place;    // the source's own notation: seq, offset, row id
};

struct BodyRequest {
  Seq message;  // seq of its message.observed
  std::string agent;
  std::string entry_id;
  Hash256 hash;  // of the raw text
  std::vector<Locator> locators;
};

// Why a text cannot be had: a carrier that holds it answers without it; or none that holds it can
// be read, since a moment (it was read before), or for long.
enum class Absence { kGone, kMoment, kLasting };

// Implemented over sources/, wired in cmd/. Text for each request, nullopt where it cannot be given
// now.
class BodyResolver {
 public:
  virtual ~BodyResolver() = default;
  virtual std::vector<std::optional<std::string>> resolve(std::span<const BodyRequest> wanted) = 0;
  // Of a text that resolve() has just not given.
  virtual Absence absence(const BodyRequest&) { return Absence::kGone; }
};

enum class BodyState { kVault, kSource, kGone };

struct Body {
  BodyState state = BodyState::kGone;
  std::string text;   // raw, as hashed
  bool away = false;  // kGone, but only as long as the carrier that holds it cannot be read
};

// What the vault answers, and what only a source may have.
struct StoredBodies {
  std::vector<Body> bodies;          // in the order asked; kGone where the vault has none
  std::vector<BodyRequest> missing;  // to ask a source for
  std::vector<std::size_t> places;   // of each of these in `bodies`
};

class BodyStore {
 public:
  // `resolver` may be null: then only the vault answers.
  BodyStore(Retention retention, BodyResolver* resolver);

  // Whether a text that `carrier` shows is kept.
  bool keeps(std::string_view carrier) const;
  // Keeps the text (zstd, content-addressed) unless retention is reference.
  Status put(Transaction& txn, const Hash256& hash, std::string_view text);
  // Remembers where a carrier holds a message (table locators; a cache, not history).
  static Status put_locator(Transaction& txn, Seq message, const Locator& locator);
  // The carrier's stream begins anew: what it does not show again until sweep_locators() is no
  // longer there.
  static Status doubt_locators(Transaction& txn, std::string_view agent, std::string_view carrier,
                               std::string_view stream);
  // Takes away the places that are still in doubt; messages that lose their last one and have no
  // copy in the vault go into texts_gone.
  static Status sweep_locators(Transaction& txn, std::string_view carrier, std::string_view stream,
                               TimeMs now);
  // Bodies of message.observed events, in the order asked. A text whose hash differs is kGone, and
  // so is one that was forgotten. Error: retriable, stage "bodies", reason "away": a carrier that
  // holds one of them was there a moment ago.
  // No transaction is open on `db` while the source is asked.
  Result<std::vector<Body>> get(Database& db, std::span<const Seq> messages);
  Result<Body> get_one(Database& db, Seq message);
  // The two halves of get(): what needs no source, and the sources' answers (those that their hash
  // proves). The second from one thread at a time; it needs no database.
  Result<StoredBodies> stored(Database& db, std::span<const Seq> messages) const;
  std::vector<std::optional<std::string>> ask(std::span<const BodyRequest> missing);
  Status drop(Transaction& txn, const Hash256& hash);  // from the vault
  Retention retention() const { return retention_; }
  // From the thread that puts.
  void set_retention(Retention retention) { retention_ = retention; }

 private:
  Retention retention_;
  BodyResolver* resolver_;
};

}  // namespace clawmark
