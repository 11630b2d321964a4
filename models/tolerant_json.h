#pragma once
// JSON as language models write it, read from the start of a text up to the end of the first value.

#include <cstddef>
#include <string_view>

#include "base/json.h"

namespace clawmark {

enum class TolerantEnd {
  kWhole,  // the value is complete
  kCut,  // the text ended inside it: arrays hold their whole items, objects their whole members and
         // open containers
  kBad,  // not JSON, even with tolerance
};

struct TolerantValue {
  json::value value;
  TolerantEnd end = TolerantEnd::kBad;
  std::size_t used = 0;     // bytes read
  std::size_t skipped = 0;  // unreadable items left out of arrays
};

// Takes trailing and doubled commas, comments, single-quoted strings, raw line ends in strings,
// wrong escapes, bare member names, True/False/None, NaN. Depth is limited by kJsonDepthMax.
TolerantValue read_tolerant_json(std::string_view text);

}  // namespace clawmark
