#pragma once
// The raw text of one message while it streams by: hash and size of the whole, content as far as it
// is kept.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace clawmark {

struct SunkText {
  std::string text;
  std::int64_t bytes = 0;
  Hash256 hash;
};

class TextSink {
 public:
  explicit TextSink(bool keep_whole = false) : keep_whole_(keep_whole) {}
  void append(std::string_view piece);  // valid UTF-8, cut between code points
  SunkText finish();                    // and starts anew

 private:
  bool keep_whole_;
  Sha256 hash_;
  std::int64_t bytes_ = 0;
  std::string text_;  // all of it, or the head once it is cut
  std::string tail_;
  bool cut_ = false;
};

}  // namespace clawmark
