#pragma once
// What the log holds. Types, versions and payload shapes are listed in schema/events.md.

#include <compare>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/scope.h"

namespace clawmark {

// Position in the log; the first event has 1. Also names a message by the event that observed it.
struct Seq {
  std::int64_t value = 0;
  auto operator<=>(const Seq&) const = default;
};

struct NewEvent {
  std::string type;  // "message.observed"
  int version = 1;
  Scope scope;
  std::string dedupe_key;  // unique over the log; a second append under it is a no-op
  TimeMs occurred;         // when it happened in the world
  json::object payload;
};

struct Event {
  Seq seq;
  std::string origin;           // the node that first recorded it
  std::int64_t origin_seq = 0;  // its seq there
  std::string type;
  int version = 1;
  Scope scope;
  std::string dedupe_key;
  TimeMs occurred;
  TimeMs recorded;
  json::object payload;  // {"redacted":true} once redacted
  bool redacted = false;
};

// Event types, as in schema/events.md.
namespace event_type {
inline constexpr char kMessageObserved[] = "message.observed";
inline constexpr char kMessageSighted[] = "message.sighted";
inline constexpr char kSessionBranch[] = "session.branch";
inline constexpr char kSessionDeleted[] = "session.deleted";
inline constexpr char kSessionMarked[] = "session.marked";
inline constexpr char kSourceEpoch[] = "source.epoch";
inline constexpr char kSourceFallback[] = "source.fallback";
inline constexpr char kFactStated[] = "fact.stated";
inline constexpr char kFactForgotten[] = "fact.forgotten";
inline constexpr char kFactExpired[] = "fact.expired";
inline constexpr char kExtractionCompleted[] = "extraction.completed";
inline constexpr char kBatchParked[] = "batch.parked";
inline constexpr char kBatchRetried[] = "batch.retried";
inline constexpr char kConfigChanged[] = "config.changed";
inline constexpr char kEventRedacted[] = "event.redacted";
inline constexpr char kMessageForgotten[] = "message.forgotten";
inline constexpr char kSessionForgotten[] = "session.forgotten";
inline constexpr char kPersonForgotten[] = "person.forgotten";
}  // namespace event_type

}  // namespace clawmark
