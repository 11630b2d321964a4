#pragma once
// The rule by which events are chained (docs/log-format.md).

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/hash.h"

namespace clawmark {

// What stands in the place of a payload that was blanked.
constexpr std::string_view kRedactedPayload = R"({"redacted":true})";

// All columns of an event but its payload, chain and redacted, in the order of rule 2.
struct Sealed {
  std::int64_t seq, version, origin_seq;
  TimeMs occurred, recorded;
  std::string_view origin, type, agent, session_key, lane, sender, dedupe_key;
};

// Of an event whose seq is below `rule_2_from`: rule 1, which stores made before schema 3 were
// written by.
Hash256 next_chain(const Hash256& previous, const Sealed& event, const Hash256& payload_hash,
                   std::int64_t rule_2_from);
Hash256 chain_by_rule_2(const Hash256& previous, const Sealed& e, const Hash256& payload_hash);

}  // namespace clawmark
