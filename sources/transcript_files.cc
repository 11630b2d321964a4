#include "sources/transcript_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/zstd.h"
#include "sources/entry_parser.h"
#include "sources/stream_tools.h"

namespace clawmark {
namespace {

constexpr std::size_t kHeaderBytesMax = 64u << 10;
constexpr std::int64_t kSettleMs = 2000;

bool is_index(std::string_view name) {
  return name == "sessions.json" || name.starts_with("legacy-store.sessions.json");
}

// The first line when it lies within the first bytes of the file.
std::string first_line(const std::string& path, bool zstd) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return {};
  std::string head(kHeaderBytesMax, '\0');
  const auto n = ::pread(fd.get(), head.data(), head.size(), 0);
  head.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  if (zstd) {
    std::string plain;
    ZstdReader reader;
    // A frame cut off by our bound is an error at its end; what came before it is enough.
    (void)reader.feed(head, [&](std::string_view piece) -> Status {
      if (plain.size() < kHeaderBytesMax) plain.append(piece);
      return Ok{};
    });
    head = std::move(plain);
  }
  const auto newline = head.find('\n');
  return newline == std::string::npos ? std::string() : head.substr(0, newline);
}

std::string header_id(const std::string& path, bool zstd) {
  const auto line = first_line(path, zstd);
  if (line.empty()) return {};
  const auto parsed = parse_entry(line);
  return parsed.ok() && parsed->type == "session" ? parsed->entry.session_id : std::string();
}

std::string_view kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::kLive:
      return "live";
    case FileKind::kReset:
      return "reset";
    case FileKind::kDeleted:
      return "deleted";
    case FileKind::kImported:
      return "imported";
    case FileKind::kBackup:
      return "bak";
  }
  return "";
}

void add_entry(const json::object& entry, const std::string& key,
               std::map<std::string, std::string>& keys) {
  const auto add = [&](std::string id) {
    if (!id.empty()) keys.emplace(std::move(id), key);
  };
  add(get_string(entry, "sessionId"));
  const auto file = base_name(get_string(entry, "sessionFile"));
  if (const auto name = parse_transcript_name(file)) add(name->stem);
  if (const auto* family = find_array(entry, "usageFamilySessionIds")) {
    for (const auto& id : *family) {
      if (id.is_string()) add(std::string(view(id.get_string())));
    }
  }
  if (const auto* checkpoints = find_array(entry, "compactionCheckpoints")) {
    for (const auto& checkpoint : *checkpoints) {
      if (const auto* object = checkpoint.if_object()) add(get_string(*object, "sessionId"));
    }
  }
}

void give_keys(std::vector<TranscriptFile>& files) {
  std::sort(files.begin(), files.end(), [](const TranscriptFile& a, const TranscriptFile& b) {
    if (a.name.stem != b.name.stem) return a.name.stem < b.name.stem;
    if (a.name.kind != b.name.kind) return a.name.kind < b.name.kind;
    return a.name.stamp != b.name.stamp ? a.name.stamp > b.name.stamp : a.path < b.path;
  });
  std::set<std::string> used, stems;
  for (const auto& file : files) stems.insert(file.name.stem);
  for (auto& file : files) {
    const bool differs = !file.header_id.empty() && file.header_id != file.name.stem;
    file.key = file.name.stem + (differs ? "|" + file.header_id : "");
    if (used.contains(file.key)) {
      file.key.append("#").append(kind_name(file.name.kind)).append(".").append(file.name.stamp);
    }
    used.insert(file.key);
    // A renamed or copied file keeps the session that its header names, unless that session has a
    // file.
    file.session_id = differs && !stems.contains(file.header_id) ? file.header_id : file.name.stem;
  }
}

// A session is deleted when its file was, unless it lives again.
void mark_deleted(std::vector<TranscriptFile>& files) {
  std::set<std::string> live, deleted;
  for (const auto& file : files) {
    if (file.name.kind == FileKind::kLive) live.insert(file.session_id);
    if (file.name.kind == FileKind::kDeleted) deleted.insert(file.session_id);
  }
  for (auto& file : files) {
    file.deleted = deleted.contains(file.session_id) && !live.contains(file.session_id);
    if (file.deleted) file.tip += ":deleted";
  }
}

}  // namespace

std::optional<TranscriptName> parse_transcript_name(std::string_view name) {
  constexpr std::string_view kExtension = ".jsonl";
  const auto at = name.find(kExtension);
  if (at == std::string_view::npos || at == 0 || name.front() == '.') return std::nullopt;
  TranscriptName out;
  out.stem = name.substr(0, at);
  auto rest = name.substr(at + kExtension.size());
  if (out.stem.find(".trajectory") != std::string::npos ||
      out.stem.find(".checkpoint") != std::string::npos) {
    return std::nullopt;
  }
  if (rest.ends_with(".zst")) {
    out.zstd = true;
    rest.remove_suffix(4);
  }
  const auto takes = [&](std::string_view mark, FileKind kind) {
    if (!rest.starts_with(mark)) return false;
    out.kind = kind;
    out.stamp = rest.substr(mark.size());
    return true;
  };
  if (rest.empty()) {
    if (out.zstd) out.kind = FileKind::kBackup;
    return out;
  }
  if (takes(".imported-", FileKind::kImported)) {
    // "agent_main_main.<session id>"
    if (const auto dot = out.stem.rfind('.'); dot != std::string::npos) out.stem.erase(0, dot + 1);
    return out;
  }
  const bool known = takes(".reset.", FileKind::kReset) || takes(".deleted.", FileKind::kDeleted) ||
                     takes(".bak", FileKind::kBackup);
  return known ? std::optional(out) : std::nullopt;
}

void read_session_index(std::string_view text, std::map<std::string, std::string>& keys) {
  const auto parsed = parse_json(text);
  if (!parsed.ok() || !parsed->is_object()) return;
  const json::object* root = &parsed->get_object();
  if (const auto* nested = find_object(*root, "sessions")) root = nested;
  // Current sessions first: an id that also stands in another's history belongs to its own entry.
  // One that two entries call theirs is nobody's: what was said there stays closed until it is
  // told.
  std::map<std::string, std::string> current;
  for (const auto& [key, value] : *root) {
    const auto* entry = value.if_object();
    if (entry == nullptr) continue;
    if (const auto id = get_string(*entry, "sessionId"); !id.empty()) {
      const auto [there, fresh] = current.emplace(id, view(key));
      if (!fresh) there->second.clear();
    }
  }
  keys.insert(current.begin(), current.end());
  for (const auto& [key, value] : *root) {
    if (const auto* entry = value.if_object()) {
      add_entry(*entry, std::string(key.data(), key.size()), keys);
    }
  }
}

TranscriptListing list_transcripts(const std::vector<std::string>& folders) {
  TranscriptListing out;
  std::map<std::string, std::string> keys;
  for (const auto& folder : folders) {
    for (const auto& name : list_dir(folder)) {
      const auto path = join_path(folder, name);
      if (is_index(name)) {
        if (const auto text = read_file(path); text.ok()) read_session_index(*text, keys);
        continue;
      }
      const auto parsed = parse_transcript_name(name);
      struct stat s{};
      if (!parsed || ::stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
      TranscriptFile& file = out.files.emplace_back();
      file.path = path;
      file.name = *parsed;
      file.size = s.st_size;
      file.mtime_ms = s.st_mtim.tv_sec * 1000 + s.st_mtim.tv_nsec / 1'000'000;
      file.header_id = header_id(path, parsed->zstd);
      file.tip = std::to_string(s.st_ino) + ":" + std::to_string(s.st_size) + ":" +
                 std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec) + ":" +
                 std::to_string(s.st_ctim.tv_sec) + "." + std::to_string(s.st_ctim.tv_nsec);
    }
  }
  give_keys(out.files);
  mark_deleted(out.files);
  for (auto& file : out.files) {
    auto found = keys.find(file.session_id);
    if (found == keys.end()) found = keys.find(file.name.stem);
    if (found != keys.end()) file.session_key = found->second;
    if (!file.header_id.empty() && file.header_id != file.name.stem) {
      out.notes.push_back("header id differs from file name: " + base_name(file.path));
    }
  }
  return out;
}

std::string transcripts_change_token(const std::vector<std::string>& folders) {
  const auto now = SystemClock().now().value;
  std::uint64_t hash = fnv1a("");
  for (const auto& folder : folders) {
    for (const auto& name : list_dir(folder)) {
      if (!is_index(name) && !parse_transcript_name(name)) continue;
      struct stat s{};
      if (::stat(join_path(folder, name).c_str(), &s) != 0) continue;
      if (now - (s.st_mtim.tv_sec * 1000 + s.st_mtim.tv_nsec / 1'000'000) < kSettleMs) return {};
      hash = fnv1a(name, hash);
      // The time of change, too: who may read it moves nothing else.
      const std::array<std::int64_t, 6> numbers = {static_cast<std::int64_t>(s.st_ino),
                                                   s.st_size,
                                                   s.st_mtim.tv_sec,
                                                   s.st_mtim.tv_nsec,
                                                   s.st_ctim.tv_sec,
                                                   s.st_ctim.tv_nsec};
      hash = fnv1a({reinterpret_cast<const char*>(numbers.data()), sizeof numbers}, hash);
    }
  }
  return "t" + std::to_string(hash);
}

}  // namespace clawmark
