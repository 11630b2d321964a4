#pragma once
// From a line back to what it rests on: queries across facts, the world model and messages.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sqlite.h"
#include "projections/facts.h"

namespace clawmark {

// One time that a fact was said or concluded; `message` 0: stated without one.
struct FactTrailRow {
  std::string kind, state, value, quote;
  std::int64_t event = 0, message = 0;
};
// Newest first.
Result<std::vector<FactTrailRow>> fact_trail(Database& db, const Fact& fact, std::size_t limit);

// Facts under this key that were known to these holders and are no longer: as last said, without
// what was forgotten.
Result<std::vector<Fact>> ended_facts(Database& db, std::string_view agent,
                                      const std::vector<std::string>& holders,
                                      std::string_view key);

// What was understood of a message: facts (kind "fact": name is the key), things and episodes.
struct UnderstoodRow {
  std::string holder, kind, name, value, state;
};
Result<std::vector<UnderstoodRow>> understood_of(Database& db, std::string_view agent, Seq message,
                                                 std::size_t limit);

// The message whose entry id begins so; nullopt: none, or not one that was said in a conversation.
Result<std::optional<Seq>> message_by_entry(Database& db, std::string_view agent,
                                            std::string_view beginning);

}  // namespace clawmark
