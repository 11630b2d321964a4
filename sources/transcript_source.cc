#include "sources/transcript_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/zstd.h"
#include "sources/active_path.h"
#include "sources/entry_lines.h"
#include "sources/stream_tools.h"

namespace clawmark {
namespace {

constexpr std::size_t kPieceBytes = 256u << 10;
constexpr std::int64_t kTailBytes = 4096;

Error io_error(const std::string& path) {
  const int code = errno;
  if (code == EACCES || code == EPERM) {
    return make_error(ErrorKind::kFatal, "source", "permission",
                      path + " is not readable for this user: run Clawmark as the gateway's user");
  }
  return make_error(ErrorKind::kRetriable, "source", "io", path + " cannot be read");
}

using OnPiece = std::function<bool(std::string_view)>;  // false: enough

// The file's content from `offset` on, piece by piece, decompressed.
class Content {
 public:
  static Result<Content> open(const std::string& path, bool zstd) {
    Content content;
    content.fd_ = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!content.fd_.valid() || ::fstat(content.fd_.get(), &content.stat_) != 0) {
      return io_error(path);
    }
    content.path_ = path;
    content.zstd_ = zstd;
    return content;
  }
  const struct stat& info() const { return stat_; }
  bool zstd() const { return zstd_; }

  Status stream(std::int64_t offset, const OnPiece& on_piece) const {
    return zstd_ ? stream_zstd(offset, on_piece) : stream_plain(offset, on_piece);
  }
  // Plain files only.
  std::string bytes(std::int64_t offset, std::int64_t count) const {
    std::string out(static_cast<std::size_t>(count), '\0');
    const auto n = ::pread(fd_.get(), out.data(), out.size(), offset);
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
  }

 private:
  Result<std::size_t> read_at(std::int64_t offset, std::string& buffer) const {
    for (;;) {
      const auto n = ::pread(fd_.get(), buffer.data(), buffer.size(), offset);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return io_error(path_);
    }
  }
  Status stream_plain(std::int64_t offset, const OnPiece& on_piece) const {
    std::string buffer(kPieceBytes, '\0');
    for (;;) {
      CLAWMARK_ASSIGN(const std::size_t n, read_at(offset, buffer));
      if (n == 0 || !on_piece(std::string_view(buffer).substr(0, n))) return Ok{};
      offset += static_cast<std::int64_t>(n);
    }
  }
  Status stream_zstd(std::int64_t offset, const OnPiece& on_piece) const {
    std::string buffer(kPieceBytes, '\0');
    ZstdReader reader;
    std::int64_t seen = 0, at = 0;
    bool enough = false;
    const auto sink = [&](std::string_view piece) -> Status {
      const auto size = static_cast<std::int64_t>(piece.size());
      const auto skip = static_cast<std::size_t>(std::clamp<std::int64_t>(offset - seen, 0, size));
      seen += size;
      enough = !on_piece(piece.substr(skip));
      if (enough) return make_error(ErrorKind::kConflict, "source", "enough", "");
      return Ok{};
    };
    for (;;) {
      CLAWMARK_ASSIGN(const std::size_t n, read_at(at, buffer));
      if (n == 0) return reader.finish();
      auto status = reader.feed(std::string_view(buffer).substr(0, n), sink);
      if (enough) return Ok{};
      if (!status.ok()) return status;
      at += static_cast<std::int64_t>(n);
    }
  }

  Fd fd_;
  struct stat stat_{};
  std::string path_;
  bool zstd_ = false;
};

struct Place {
  std::int64_t offset = 0, lines = 0;
  std::uint64_t chain = fnv1a("");
  std::string tip;
  bool branched = false;
};

Place parse_place(const std::string& text) {
  const auto object = parse_state(text);
  Place place;
  place.offset = get_int(object, "o");
  place.lines = get_int(object, "l");
  if (const auto chain = get_string(object, "c"); !chain.empty()) {
    place.chain = std::strtoull(chain.c_str(), nullptr, 16);
  }
  place.tip = get_string(object, "t");
  place.branched = get_bool(object, "b");
  return place;
}

std::string hex(std::uint64_t value) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(value));
  return out;
}

std::string place_text(const Place& place) {
  json::object object{{"o", place.offset}, {"l", place.lines}, {"c", hex(place.chain)}};
  if (!place.tip.empty()) object["t"] = place.tip;
  if (place.branched) object["b"] = true;
  return to_text(object);
}

std::int64_t mtime_ns(const struct stat& s) {
  return s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec;
}

std::string anchor_text(const Content& content, std::int64_t offset, std::int64_t last_line_bytes) {
  json::object object{{"i", static_cast<std::int64_t>(content.info().st_ino)},
                      {"z", static_cast<std::int64_t>(content.info().st_size)},
                      {"m", mtime_ns(content.info())}};
  if (!content.zstd()) {
    const auto n = std::min({kTailBytes, last_line_bytes, offset});
    object["n"] = n;
    object["h"] = hex(fnv1a(content.bytes(offset - n, n)));
  }
  return to_text(object);
}

// FNV-1a over the content before `offset`; nullopt when there is less.
Result<std::optional<std::uint64_t>> chain_until(const Content& content, std::int64_t offset) {
  std::uint64_t chain = fnv1a("");
  std::int64_t left = offset;
  CLAWMARK_TRY(content.stream(0, [&](std::string_view piece) {
    const auto n = std::min<std::int64_t>(left, static_cast<std::int64_t>(piece.size()));
    chain = fnv1a(piece.substr(0, static_cast<std::size_t>(n)), chain);
    left -= n;
    return left > 0;
  }));
  return left > 0 ? std::optional<std::uint64_t>() : std::optional(chain);
}

// Empty: what was read is still there; else why not.
Result<std::string> what_changed(const Content& content, const Place& place,
                                 const std::string& anchor_json) {
  const auto anchor = parse_state(anchor_json);
  const auto& info = content.info();
  const bool same_file = get_int(anchor, "i") == static_cast<std::int64_t>(info.st_ino);
  if (!content.zstd() && info.st_size < place.offset) return std::string("shrunk");
  const auto n = get_int(anchor, "n", -1);
  if (!content.zstd() && n >= 0 &&
      hex(fnv1a(content.bytes(place.offset - n, n))) != get_string(anchor, "h")) {
    return std::string(same_file ? "rewritten" : "replaced");
  }
  const bool grown = info.st_size > get_int(anchor, "z");
  const bool untouched =
      !grown && mtime_ns(info) == get_int(anchor, "m") && info.st_size == get_int(anchor, "z");
  if (same_file && n >= 0 && !content.zstd() && (untouched || grown)) return std::string();
  if (same_file && content.zstd() && untouched) return std::string();
  // Another file under the name, or touched without growth: only the whole content can tell.
  CLAWMARK_ASSIGN(const auto chain, chain_until(content, place.offset));
  if (chain == place.chain) return std::string();
  return std::string(same_file ? "rewritten" : "replaced");
}

// Follows the tip; says when the tree is no longer a line.
void follow(const ParsedEntry& parsed, Place& place) {
  const Entry& entry = parsed.entry;
  if (parsed.type == "session") return;
  if (entry.kind == EntryKind::kLeaf) {
    place.branched = true;
    place.tip = entry.target_id;
    return;
  }
  if (!place.tip.empty() && !ActivePath::extends(place.tip, entry.parent_id)) place.branched = true;
  if (!entry.entry_id.empty()) place.tip = entry.entry_id;
}

// An archive is believed when it is read for the first time. One whose checksum says that its
// content is another would give words that nobody said.
Status believe(const Content& content) {
  if (!content.zstd()) return Ok{};
  auto status = content.stream(0, [](std::string_view) { return true; });
  const bool false_words = !status.ok() && status.error().reason == "checksum";
  return false_words ? status : Status(Ok{});
}

Result<std::vector<std::string>> inactive_in(const Content& content, std::int64_t until) {
  ActivePath path;
  EntryLines lines(0, 0, 0);
  const auto on_line = [&](EntryLine&& line) {
    if (line.end > until) return false;
    if (!line.parsed.ok() || line.parsed->type == "session") return true;
    const Entry& entry = line.parsed->entry;
    if (entry.kind == EntryKind::kLeaf) {
      path.add_leaf(entry.entry_id, entry.target_id);
    } else {
      path.add(entry.entry_id, entry.parent_id, entry.kind == EntryKind::kMessage);
    }
    return true;
  };
  const auto status =
      content.stream(0, [&](std::string_view piece) { return lines.feed(piece, on_line); });
  if (!status.ok() && status.error().stage != "zstd") return status.error();
  return path.inactive();  // damage can only lie behind `until`
}

}  // namespace

TranscriptSource::TranscriptSource(std::vector<std::string> folders, std::string agent,
                                   std::vector<std::string> ignore_sessions)
    : folders_(std::move(folders)), agent_(std::move(agent)), ignore_(std::move(ignore_sessions)) {}

void TranscriptSource::list() {
  auto listing = list_transcripts(folders_);
  notes_ = std::move(listing.notes);
  files_.clear();
  for (auto& file : listing.files) {
    if (!is_ignored(file.session_key, ignore_)) files_.emplace(file.key, std::move(file));
  }
}

const TranscriptFile* TranscriptSource::find(const std::string& key) {
  auto found = files_.find(key);
  if (found == files_.end() || !stat_file(found->second.path)) {
    list();
    found = files_.find(key);
  }
  return found == files_.end() ? nullptr : &found->second;
}

SourceHealth TranscriptSource::validate() {
  SourceHealth health;
  bool there = false;
  for (const auto& folder : folders_) {
    const auto info = stat_file(folder);
    if (!info || !info->is_directory) continue;
    there = true;
    if (::access(folder.c_str(), R_OK | X_OK) == 0) continue;
    health.state = SourceState::kForbidden;
    health.reason = "permission";
    health.message = folder + " is not readable for this user: run Clawmark as the gateway's user";
  }
  if (!there) {
    health.state = SourceState::kAbsent;
    health.reason = "missing";
    health.message = folders_.front() + " does not exist";
  }
  if (health.state != SourceState::kOk) return health;
  list();
  health.notes = notes_;
  return health;
}

Result<std::vector<StreamInfo>> TranscriptSource::streams() {
  list();
  std::vector<StreamInfo> out;
  for (const auto& [key, file] : files_) {
    StreamInfo& info = out.emplace_back();
    info.key = key;
    info.session_id = file.session_id;
    info.session_key = file.session_key;
    info.agent = agent_;
    info.newest = {file.mtime_ms};
    info.live = file.name.kind == FileKind::kLive;
    info.deleted = file.deleted;
    if (file.deleted) info.deleted_evidence = "file";
    info.tip = file.tip;
  }
  std::sort(out.begin(), out.end(), by_newest);
  return out;
}

Result<StreamBatch> TranscriptSource::read(const StreamInfo& stream, const StreamPosition& after,
                                           std::size_t items_max) {
  StreamBatch batch;
  batch.next = after;
  const TranscriptFile* file = find(stream.key);
  if (file == nullptr) return batch;  // gone; absence says nothing
  const auto opened = Content::open(file->path, file->name.zstd);
  if (!opened.ok()) return stopped_batch(after, opened.error(), file->path);
  const Content& content = *opened;
  Place place;
  if (!after.position.empty()) {
    place = parse_place(after.position);
    const auto reason = what_changed(content, place, after.anchor);
    if (!reason.ok()) return stopped_batch(after, reason.error(), file->path);
    if (!reason->empty()) {
      batch.epoch = EpochChange{after.epoch + 1, *reason};
      batch.next.epoch = batch.epoch->epoch;
      place = Place{};
      place.branched = true;  // the active path is told anew
    }
  }
  if (place.offset == 0) {
    const auto sound = believe(content);
    if (!sound.ok()) return stopped_batch(after, sound.error(), file->path, 0);
  }
  EntryLines lines(place.offset, place.lines, place.chain);
  std::size_t items = 0;
  bool enough = false;
  std::int64_t last_line_bytes = get_int(parse_state(after.anchor), "n");
  const auto on_line = [&](EntryLine&& line) {
    last_line_bytes = line.end - line.offset;
    if (!line.parsed.ok()) {
      note_skip(batch, {line.number, line.parsed.error().reason, file->path, line.offset});
      batch.bytes += 64;
    } else {
      follow(*line.parsed, place);
      Entry& entry = batch.entries.emplace_back(std::move(line.parsed->entry));
      stamp_entry(entry, stream);
      entry.place = std::to_string(line.offset);
      entry.order = line.number;
      batch.bytes += weight(entry);
    }
    enough = ++items >= items_max || batch.bytes >= kSourceBatchBytes;
    return !enough;
  };
  const auto streamed = content.stream(
      place.offset, [&](std::string_view piece) { return lines.feed(piece, on_line); });
  if (!streamed.ok()) {
    CLAWMARK_ASSIGN(batch.stopped, stop_of(streamed.error(), file->path, lines.offset()));
  } else if (!enough && file->name.kind != FileKind::kLive) {
    lines.end_of_archive(on_line);
  }
  place.offset = lines.offset();
  place.lines = lines.lines();
  place.chain = lines.chain();
  batch.at_end = !enough;
  if (batch.at_end && place.branched) {
    CLAWMARK_ASSIGN(batch.inactive, inactive_in(content, place.offset));
    place.branched = false;
  }
  batch.next.position = place_text(place);
  batch.next.anchor = anchor_text(content, place.offset, last_line_bytes);
  return batch;
}

std::vector<std::optional<std::string>> TranscriptSource::bodies(std::span<const Wanted> wanted) {
  std::vector<std::optional<std::string>> out;
  out.reserve(wanted.size());
  for (const auto& one : wanted) {
    auto& body = out.emplace_back();
    const TranscriptFile* file = find(one.stream);
    if (file == nullptr) continue;
    const auto content = Content::open(file->path, file->name.zstd);
    if (!content.ok()) continue;
    const auto take = [&](EntryLine&& line) {
      if (!line.parsed.ok() || line.parsed->entry.kind != EntryKind::kMessage) return false;
      const bool same = one.entry_id.empty() || line.parsed->entry.entry_id == one.entry_id;
      std::string& text = line.parsed->entry.text;
      if (!same && !(one.hash && sha256(text) == *one.hash)) return false;
      body = std::move(text);
      return true;
    };
    // Where it was; else, as the file may have been rewritten, by its id. The same words under a
    // new id are known by their hash.
    const auto place = std::strtoll(one.place.c_str(), nullptr, 10);
    EntryLines here(place, 0, 0, EntryLines::Wrap::kPlain, EntryParser::Keep::kWholeText);
    const auto first = [&](EntryLine&& line) { return take(std::move(line)), false; };
    (void)content->stream(place, [&](std::string_view piece) { return here.feed(piece, first); });
    if (!body) here.end_of_archive(first);
    if (body || one.entry_id.empty()) continue;
    EntryLines all(0, 0, 0, EntryLines::Wrap::kPlain, EntryParser::Keep::kWholeText);
    const auto each = [&](EntryLine&& line) { return !take(std::move(line)); };
    (void)content->stream(0, [&](std::string_view piece) { return all.feed(piece, each); });
  }
  return out;
}

std::string TranscriptSource::change_token() {
  return transcripts_change_token(folders_);
}

}  // namespace clawmark
