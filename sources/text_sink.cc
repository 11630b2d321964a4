#include "sources/text_sink.h"

#include <utility>

#include "base/limits.h"
#include "base/utf8.h"

namespace clawmark {

void TextSink::append(std::string_view piece) {
  hash_.update(piece);
  bytes_ += static_cast<std::int64_t>(piece.size());
  if (!cut_) {
    text_.append(piece);
    if (keep_whole_ || text_.size() <= kEntryTextMax) return;
    cut_ = true;
    tail_ = suffix_bytes(text_, kEntryExcerptBytes);
    text_ = std::string(prefix_bytes(text_, kEntryExcerptBytes));
    text_.shrink_to_fit();
    return;
  }
  tail_.append(piece);
  if (tail_.size() > 8 * kEntryExcerptBytes) {
    tail_ = std::string(suffix_bytes(tail_, kEntryExcerptBytes));
  }
}

SunkText TextSink::finish() {
  SunkText out{std::move(text_), bytes_, hash_.finish()};
  if (cut_) {
    out.text.append("\n[\xE2\x80\xA6 of ").append(std::to_string(bytes_));
    out.text.append(" bytes only the head and the tail are kept \xE2\x80\xA6]\n");
    out.text.append(suffix_bytes(tail_, kEntryExcerptBytes));
  }
  *this = TextSink(keep_whole_);
  return out;
}

}  // namespace clawmark
