#include "sources/entry_lines.h"

#include <algorithm>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/zstd.h"

namespace clawmark {
namespace {

constexpr std::size_t kPieceBytes = 256u << 10;

Result<ParsedEntry> parse_cold(std::string_view raw) {
  CLAWMARK_ASSIGN(const auto line, parse_json(raw));
  if (!line.is_object()) {
    return make_error(ErrorKind::kPoison, "entry", "not_object", "a line is not a JSON object");
  }
  const auto& object = line.get_object();
  const auto* row = find_object(object, "row");
  if (row == nullptr) return ParsedEntry{};  // header, footer
  return parse_entry(get_string(*row, "event_json"));
}

}  // namespace

EntryLines::EntryLines(std::int64_t offset, std::int64_t lines, std::uint64_t chain, Wrap wrap,
                       EntryParser::Keep keep)
    : offset_(offset),
      lines_(lines),
      chain_(chain),
      open_chain_(chain),
      wrap_(wrap),
      parser_(keep) {}

void EntryLines::take(std::string_view part) {
  open_chain_ = fnv1a(part, open_chain_);
  line_bytes_ += static_cast<std::int64_t>(part.size());
  if (blank_) blank_ = part.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (line_bytes_ > static_cast<std::int64_t>(kLineBytesMax)) return;
  wrap_ == Wrap::kCold ? void(raw_.append(part)) : parser_.feed(part);
}

Result<ParsedEntry> EntryLines::end_line() {
  const bool too_long = line_bytes_ > static_cast<std::int64_t>(kLineBytesMax);
  auto parsed = wrap_ == Wrap::kCold && !too_long ? parse_cold(raw_) : parser_.finish();
  raw_.clear();
  if (too_long) {
    return make_error(ErrorKind::kPoison, "entry", "too_long", "a line is longer than allowed");
  }
  return parsed;
}

bool EntryLines::give_line(const std::function<bool(EntryLine&&)>& on_line) {
  const std::int64_t begin = offset_;
  offset_ += line_bytes_;
  ++lines_;
  chain_ = open_chain_;
  bool go_on = true;
  if (blank_) {
    (void)end_line();
  } else {
    EntryLine line{begin, offset_, lines_, end_line()};
    const bool passed_over = line.parsed.ok() && line.parsed->type.empty();
    if (!passed_over) go_on = on_line(std::move(line));
  }
  line_bytes_ = 0;
  blank_ = true;
  return go_on;
}

bool EntryLines::feed(std::string_view bytes, const std::function<bool(EntryLine&&)>& on_line) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    if (newline == std::string_view::npos) {
      take(bytes);
      return true;
    }
    take(bytes.substr(0, newline + 1));
    bytes.remove_prefix(newline + 1);
    if (!give_line(on_line)) return false;
  }
  return true;
}

void EntryLines::end_of_archive(const std::function<bool(EntryLine&&)>& on_line) {
  if (half_line()) give_line(on_line);
}

Status feed_archive(std::span<const std::uint8_t> archive, bool zstd, std::int64_t offset,
                    EntryLines& lines, const std::function<bool(EntryLine&&)>& on_line) {
  const std::string_view bytes(reinterpret_cast<const char*>(archive.data()), archive.size());
  if (!zstd) {
    const auto from = std::min(bytes.size(), static_cast<std::size_t>(offset));
    lines.feed(bytes.substr(from), on_line);
    return Ok{};
  }
  ZstdReader reader;
  std::int64_t seen = 0;
  bool stopped = false;
  const auto sink = [&](std::string_view piece) -> Status {
    const auto skip =
        std::clamp<std::int64_t>(offset - seen, 0, static_cast<std::int64_t>(piece.size()));
    seen += static_cast<std::int64_t>(piece.size());
    stopped = !lines.feed(piece.substr(static_cast<std::size_t>(skip)), on_line);
    if (stopped) return make_error(ErrorKind::kConflict, "entry", "enough", "");
    return Ok{};
  };
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    auto status = reader.feed(bytes.substr(at, kPieceBytes), sink);
    if (stopped) return Ok{};
    if (!status.ok()) return status;
  }
  return reader.finish();
}

}  // namespace clawmark
