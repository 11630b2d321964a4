#pragma once
// Limits of history outside the context (features, family C), beside base/limits.h, which
// everything includes.

#include <cstddef>
#include <cstdint>

namespace clawmark {

// Answers of the rc_* tools, in characters (code points).
constexpr std::size_t kHistoryAnswerMax = 24'000;  // of one answer; the rest is a further page
constexpr std::size_t kHistoryNotesMax = 1'000;    // of them for what stands around the texts
constexpr std::size_t kPeekTextMax = 500;          // of one message in rc_peek
constexpr std::size_t kSnippetMax = 300;           // around a match

constexpr std::int64_t kPeekLengthMax = 50;      // messages
constexpr std::int64_t kSliceLengthMax = 200;    // messages
constexpr std::int64_t kGrepLimitMax = 100;      // hits
constexpr std::int64_t kTimelineLimitMax = 100;  // periods
constexpr std::int64_t kOffsetMax = 100'000'000;
constexpr std::int64_t kHistoryCountMax = 20'000;  // messages of a conversation, one by one

constexpr std::int64_t kHistoryReadMs = 2'000;  // wait for the texts of one answer
constexpr std::int64_t kGrepMs = 900;           // of one rc_grep, wall time
constexpr std::size_t kGrepBatch = 64;          // texts read between two looks at the clock
constexpr std::size_t kGrepToolTexts = 400;     // tool results looked into for words

constexpr std::size_t kPatternMax = 1'000;               // bytes of a pattern
constexpr std::int64_t kPatternMemory = 8LL << 20;       // of a compiled pattern, bytes
constexpr std::size_t kPatternWindow = 256u << 10;       // bytes matched at a time
constexpr std::size_t kPatternWindowOverlap = 4u << 10;  // matches longer than this may be missed
                                                         // where two windows meet

// Signatures of texts (projections/history_grams.h).
constexpr std::size_t kGramBitsPerGram = 4;       // a fifth of the bits set: few false hits
constexpr std::size_t kGramsMax = 16u << 10;      // distinct; a text with more has no signature
constexpr std::size_t kGramTextMax = 256u << 10;  // bytes; likewise

constexpr std::size_t kKeywordTextsPerPeriod = 40;  // of a timeline
constexpr std::size_t kKeywordTexts = 600;          // of one answer
constexpr std::size_t kKeywordTextMax = 4'000;      // bytes looked at in one text
constexpr std::size_t kKeywords = 6;                // of one period

// Scripts (rc_repl).
constexpr std::size_t kReplCodeMax = 64u << 10;    // bytes
constexpr std::size_t kReplOutputMax = 20'000;     // characters
constexpr std::size_t kReplFrameMax = 4u << 20;    // bytes of one message between the two
constexpr std::int64_t kReplCallsMax = 300;        // questions of one run
constexpr std::int64_t kReplThinkMs = 8'000;       // without a word, wall time
constexpr std::int64_t kReplWallMs = 60'000;       // of one run, its questions included
constexpr int kReplReapTries = 20;                 // looks at a process that has ended, …
constexpr int kReplReapMs = 10;                    // … so far apart
constexpr std::size_t kReplNameMax = 100;          // characters of a stored name
constexpr std::size_t kReplValueMax = 64u << 10;   // bytes of one stored value
constexpr std::int64_t kReplValuesMax = 100;       // of one conversation
constexpr std::int64_t kReplStoreMax = 1'000'000;  // bytes of all of them

}  // namespace clawmark
