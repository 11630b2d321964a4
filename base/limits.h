#pragma once
// Every limit of the project, with its unit and its reason.

#include <cstddef>
#include <cstdint>

namespace clawmark {

constexpr std::size_t kJsonDepthMax = 64;  // deeper input is hostile; tool arguments stay below 20

// Sources. One line is streamed, never held whole with its parse tree beyond kEntryTextMax.
constexpr std::size_t kLineBytesMax = 64u << 20;  // a longer line is recorded as skipped
constexpr std::size_t kEntryTextMax = 4u << 20;   // a host's own event limit; longer: head and tail
constexpr std::size_t kEntryExcerptBytes = 16u
                                           << 10;  // head and tail each kept of an oversized entry
constexpr std::size_t kSourceBatchItems = 500;     // rows in one read transaction
constexpr std::size_t kSourceBatchBytes = 8u << 20;
constexpr std::int64_t kSourceReadMs = 50;  // of one read transaction on the host's database

// Log.
constexpr std::size_t kPayloadBytesMax = 1u << 20;
constexpr std::size_t kEventBatchMax = 1000;

// Facts (features, family A).
constexpr std::size_t kFactKeyMax = 100;        // characters
constexpr std::size_t kFactValueMax = 2000;     // characters
constexpr std::size_t kFactsPerAnswerMax = 15;  // of one model answer

// Injection, in characters (code points).
constexpr std::size_t kFactsBlockMax = 6000;
constexpr std::size_t kBlockMax = 12000;
constexpr std::size_t kExcerptMax = 400;

// Serving.
constexpr std::size_t kRequestBodyMax = 1u << 20;
constexpr std::size_t kRequestHeaderMax = 16u << 10;
constexpr std::size_t kPromptMax = 8000;  // characters looked at

// Models.
constexpr std::size_t kModelAnswerMax = 16u << 20;
constexpr std::size_t kChunkBytes = 1600;  // text of one vector, about 400 tokens
constexpr std::int64_t kRetryAfterMaxMs = 10 * 60 * 1000;
constexpr std::int64_t kBackoffFirstMs = 1000;
constexpr std::int64_t kBackoffMaxMs = 5 * 60 * 1000;

// Workers.
constexpr int kCircuitFailures = 5;  // failed calls in a row after which the circuit is open
constexpr int kIsolatedTries = 3;    // of one item alone before it is parked
constexpr std::size_t kWindowMessages = 30;   // of one extraction window
constexpr std::size_t kWindowChars = 24'000;  // of the text of one extraction window
constexpr std::size_t kEmbedBatchMessages = 200;
constexpr std::size_t kFoldBatch = 500;   // events in one step of a projection
constexpr std::int64_t kPollMs = 2000;    // every worker looks by itself this often
constexpr std::int64_t kRelistMs = 5000;  // a long backlog yields to newer sessions this often
// One stream of a carrier cannot be read on: it is tried again when it looks changed, and so often.
constexpr std::int64_t kRetryStopMs = 10 * 60 * 1000;
// A carrier is stale when it was silent so long while others moved on.
constexpr std::int64_t kStaleAfterMs = 15 * 60 * 1000;
constexpr std::size_t kToolCallsMax = 256;  // of one message
constexpr int kExpireAfterDays = 365;       // extracted facts, unreinforced
constexpr double kExpireShareMax = 0.2;     // of all extracted facts in one pass, …
constexpr std::size_t kExpireFewMax = 10;   // … unless they are so few
// So long after a forgetting or a deletion at the source its text leaves the log by itself: by then
// every carrier has been read, and none shows the message in a session that lives.
constexpr std::int64_t kFollowForgettingMs = 60 * 60 * 1000;
// Decay runs at most so far ahead of what was said last.
constexpr std::int64_t kDecayAheadMs = 30LL * 24 * 3600 * 1000;

}  // namespace clawmark
