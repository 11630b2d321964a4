#pragma once
// The guard block: quoted data about the conversation's people, in whole entries, within budget,
// the same bytes for the same content (features, family A). Sizes are code points and include the
// markers.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "projections/facts.h"

namespace clawmark {

constexpr std::int64_t kVolatileAgeMs =
    60 * kDayMs;  // then "current version is …" is marked as possibly outdated

struct RecallItem {
  std::int64_t message = 0;
  std::vector<std::int64_t> messages;  // all that the excerpt covers, `message` first
  TimeMs at;
  std::string role, speaker, session_id, session_key;
  std::string excerpt;
  bool dialogue = false;  // the excerpt names its speakers itself
  bool state = false;     // where things were left off: one of the world model's lines
  double score = 0;       // calibrated, 0..1
};

struct Block {
  std::string text;       // empty: nothing to say, or no room for one entry
  std::size_t chars = 0;  // code points of text
  std::size_t shown = 0, left_out = 0;
};

// Facts in the order given (user-stated first, then by key: read_facts), each with the date on
// which it was last said in `zone`. Where room is short, user-stated ones stay, then the newest; an
// entry that does not fit is left out and shorter ones after it still go in.
Block facts_block(std::span<const Fact> facts, std::string_view zone, TimeMs now,
                  std::size_t budget);

// Excerpts in the order given, each with date and speaker.
Block recall_block(std::span<const RecallItem> items, std::string_view zone, TimeMs now,
                   std::size_t budget);

// Entries as they are (each one line, already quoted), the earlier of `by_rank` first where room is
// short: what stands for the part of a conversation that a request does not show.
Block context_block(std::span<const std::string> entries, std::span<const std::size_t> by_rank,
                    std::string_view zone, std::size_t budget);

// First 16 hex digits of the block's SHA-256.
std::string block_version(std::string_view text);

}  // namespace clawmark
