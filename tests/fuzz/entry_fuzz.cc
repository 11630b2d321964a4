#include "base/limits.h"
#include "base/utf8.h"
#include "sources/entry_parser.h"
#include "sources/text_cleaner.h"
#include "tests/fuzz/targets.h"

namespace clawmark::fuzz {

void fuzz_entry(std::string_view data) {
  EntryParser parser;
  parser.feed(data);
  const auto whole = parser.finish();
  // In pieces the same comes out, and the parser is as new after a failure.
  const std::size_t step = data.empty() ? 1 : 1 + static_cast<unsigned char>(data[0]) % 7;
  for (std::size_t at = 0; at < data.size(); at += step) parser.feed(data.substr(at, step));
  const auto pieces = parser.finish();
  require(whole.ok() == pieces.ok(), "pieces change whether an entry is well formed");
  if (!whole.ok()) {
    require(whole.error().kind == ErrorKind::kPoison, "a bad entry is poison");
    return;
  }
  const Entry& entry = whole->entry;
  require(entry.text == pieces->entry.text && entry.hash == pieces->entry.hash &&
              entry.entry_id == pieces->entry.entry_id,
          "pieces change what an entry says");
  require(is_valid_utf8(entry.text), "the text of an entry is UTF-8");
  require(entry.tools.size() <= kToolCallsMax, "tool calls are bounded");
  if (entry.kind == EntryKind::kMessage &&
      entry.bytes == static_cast<std::int64_t>(entry.text.size())) {
    require(entry.hash == sha256(entry.text), "the hash is that of the text");
  }
  Entry said = entry;
  read_envelope_sender(said);
  require(is_valid_utf8(presentable_text(entry.text)), "presentable text is UTF-8");
}

}  // namespace clawmark::fuzz
