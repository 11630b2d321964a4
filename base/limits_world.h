#pragma once
// Limits of the world model (features, family B), beside base/limits.h, which everything includes.

#include <cstddef>
#include <cstdint>

namespace clawmark {

constexpr std::size_t kCharsPerToken = 4;              // the host's own estimate
constexpr std::size_t kLeafChunkTokens = 20'000;       // of one graph call
constexpr std::size_t kLeafChunkMessages = 400;        // likewise
constexpr std::size_t kGraphNameMax = 200;             // characters of a thing's name
constexpr std::size_t kGraphTextMax = 600;             // of a description
constexpr std::size_t kGraphQuoteMax = 600;            // of one quote
constexpr std::size_t kGraphProseMax = 20'000;         // of a summary
constexpr std::size_t kGraphItemsMax = 300;            // of one kind in one answer
constexpr std::size_t kLeafTargetTokens = 1'400;       // of the summary of a chunk
constexpr std::size_t kCondensedTargetTokens = 2'200;  // of one made of summaries
constexpr std::size_t kCondenseLeaves = 8;             // so many chunks' summaries are joined
constexpr std::size_t kCondenseDeeper = 4;             // of joined ones
constexpr int kSummaryDepthMax = 8;
constexpr std::size_t kCutChars = 2'048;   // of a summary that had to be cut
constexpr double kDecayHalfLifeDays = 14;  // times the factor of the type
constexpr double kStaleConfidence = 0.4;   // effective; below: flagged as stale

// Large contents of messages (docs/decisions/0043).
constexpr std::size_t kLargeFileTokens = 25'000;       // from so many on
constexpr std::size_t kFileNameChars = 200;            // of a name or media type
constexpr std::size_t kFileExploredBytes = 16u << 20;  // structure is looked for in the first
constexpr std::size_t kFileSummaryChars = 3'500;       // of an exploration summary
constexpr std::size_t kFileRangeChars = 12'000;        // of one range that is read back
constexpr std::size_t kFilesListed = 50;               // of one answer
constexpr std::int64_t kFileReadMs = 5'000;            // a source's wait for one text

}  // namespace clawmark
