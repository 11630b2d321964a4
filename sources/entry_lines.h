#pragma once
// Cuts bytes into lines and parses each as an entry, whatever the cuts between pieces: files,
// archives, cold storage. Memory is bounded by what EntryParser keeps.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sources/entry_parser.h"

namespace clawmark {

struct EntryLine {
  std::int64_t offset = 0;  // of its first byte
  std::int64_t end = 0;     // of the byte after its newline
  std::int64_t number = 0;  // physical, from 1
  Result<ParsedEntry> parsed = ParsedEntry{};
};

class EntryLines {
 public:
  enum class Wrap {
    kPlain,  // a line is an entry
    kCold,   // a line is {"kind":"event","row":{"event_json":…}}; other kinds are passed over
  };
  // `offset` and `lines` before the first byte fed; `chain` as it was there.
  EntryLines(std::int64_t offset, std::int64_t lines, std::uint64_t chain, Wrap wrap = Wrap::kPlain,
             EntryParser::Keep keep = EntryParser::Keep::kBounded);

  // Gives every complete line that is not blank; a false from `on_line` stops after it. Returns
  // whether to go on.
  bool feed(std::string_view bytes, const std::function<bool(EntryLine&&)>& on_line);

  // An archive ends here: what stands after the last newline counts as a line.
  void end_of_archive(const std::function<bool(EntryLine&&)>& on_line);

  // After the last complete line, blank ones included.
  std::int64_t offset() const { return offset_; }
  std::int64_t lines() const { return lines_; }
  // FNV-1a over all bytes up to offset(): equal bytes, equal chain.
  std::uint64_t chain() const { return chain_; }
  bool half_line() const { return line_bytes_ > 0; }

 private:
  void take(std::string_view part);
  bool give_line(const std::function<bool(EntryLine&&)>& on_line);
  Result<ParsedEntry> end_line();

  std::int64_t offset_, lines_;
  std::uint64_t chain_, open_chain_;
  Wrap wrap_;
  EntryParser parser_;
  std::string raw_;  // kCold
  std::int64_t line_bytes_ = 0;
  bool blank_ = true;
};

// Feeds a zstd archive that lies in memory from `offset` (of its content) on. Error: of ZstdReader;
// `lines` has then got what could be decoded before it.
Status feed_archive(std::span<const std::uint8_t> archive, bool zstd, std::int64_t offset,
                    EntryLines& lines, const std::function<bool(EntryLine&&)>& on_line);

}  // namespace clawmark
