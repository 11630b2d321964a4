#include "log/purge.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/files.h"

namespace clawmark {
namespace {

constexpr std::size_t kNeedleMin = 8;    // bytes; shorter ones are found by chance
constexpr std::size_t kNeedleMax = 256;  // of a longer text its beginning is looked for
constexpr std::size_t kReadBytes = 4u << 20;

bool is_backup(std::string_view name, std::string_view store) {
  return name.starts_with(std::string(store) + ".v") &&
         (name.ends_with(".bak") || name.ends_with(".bak.tmp"));
}

// Whether a file holds one of the needles; read in pieces that overlap by the longest of them.
Result<bool> holds_any(const std::string& path, const std::vector<std::string>& needles) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return make_error(ErrorKind::kRetriable, "purge", "read", "cannot read " + path);
  }
  std::vector<std::boyer_moore_horspool_searcher<std::string::const_iterator>> searchers;
  for (const auto& needle : needles) searchers.emplace_back(needle.begin(), needle.end());
  std::string piece;
  for (;;) {
    const std::size_t kept = std::min(piece.size(), kNeedleMax - 1);
    piece.erase(0, piece.size() - kept);
    piece.resize(kept + kReadBytes);
    const ssize_t got = ::read(fd.get(), piece.data() + kept, kReadBytes);
    if (got < 0) return make_error(ErrorKind::kRetriable, "purge", "read", "cannot read " + path);
    if (got == 0) return false;
    piece.resize(kept + static_cast<std::size_t>(got));
    for (const auto& searcher : searchers) {
      if (std::search(piece.begin(), piece.end(), searcher) != piece.end()) return true;
    }
  }
}

std::string as_string(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Result<PurgedTexts> drop_texts(Transaction& txn, std::span<const Seq> messages,
                               std::span<const Hash256> hashes, std::vector<std::string>* frames) {
  Database& db = txn.db();
  PurgedTexts out;
  for (const Hash256& hash : hashes) {
    if (frames != nullptr) {
      CLAWMARK_ASSIGN(auto* kept, db.cached("SELECT frame FROM bodies WHERE hash = ?"));
      kept->with(hash);
      CLAWMARK_ASSIGN(const bool there, kept->step());
      if (there) frames->emplace_back(as_string(kept->blob(0)));
      kept->reset();
    }
    CLAWMARK_TRY(db.run("DELETE FROM bodies WHERE hash = ?", hash));
    out.bodies += db.changes();
  }
  for (const Seq message : messages) {
    std::vector<Hash256> chunks;
    CLAWMARK_ASSIGN(auto* query, db.cached("SELECT hash FROM chunks WHERE message = ?"));
    query->with(message.value);
    for (;;) {
      CLAWMARK_ASSIGN(const bool row, query->step());
      if (!row) break;
      chunks.push_back(query->hash(0));
    }
    query->reset();
    CLAWMARK_TRY(db.run("DELETE FROM chunks WHERE message = ?", message.value));
    for (const Hash256& chunk : chunks) {
      CLAWMARK_ASSIGN(const auto others,
                      db.query_int("SELECT 1 FROM chunks WHERE hash = ? LIMIT 1", chunk));
      if (others) continue;
      CLAWMARK_TRY(
          db.run("DELETE FROM vectors WHERE hash = ? AND model IN"
                 " (SELECT id FROM embedding_models)",
                 chunk));
      out.vectors += db.changes();
    }
    CLAWMARK_TRY(db.run("DELETE FROM parked WHERE message = ?", message.value));
    out.parked += db.changes();
  }
  return out;
}

Status scrub_files(Database& db) {
  CLAWMARK_TRY(db.exec("VACUUM"));
  CLAWMARK_ASSIGN(auto checkpoint, db.prepare("PRAGMA wal_checkpoint(TRUNCATE)"));
  CLAWMARK_ASSIGN(const bool row, checkpoint.step());
  if (row && checkpoint.integer(0) == 0) return Ok{};
  return make_error(ErrorKind::kRetriable, "purge", "busy",
                    "the write-ahead log could not be emptied while someone reads: run it again");
}

std::vector<std::string> list_backups(const std::string& store_path) {
  std::vector<std::string> out;
  for (const std::string& name : list_dir(dir_name(store_path))) {
    if (is_backup(name, base_name(store_path))) {
      out.push_back(join_path(dir_name(store_path), name));
    }
  }
  return out;
}

Result<std::vector<std::string>> remove_backups(const std::string& store_path) {
  auto backups = list_backups(store_path);
  for (const std::string& path : backups) {
    if (::unlink(path.c_str()) != 0) {
      return make_error(ErrorKind::kRetriable, "purge", "backup", "cannot remove " + path);
    }
  }
  return backups;
}

Result<std::vector<std::string>> files_holding(const std::string& store_path,
                                               std::vector<std::string> texts, std::size_t limit) {
  std::sort(texts.begin(), texts.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  if (texts.size() > limit) texts.resize(limit);
  std::erase_if(texts, [](const std::string& text) { return text.size() < kNeedleMin; });
  for (auto& text : texts) text.resize(std::min(text.size(), kNeedleMax));
  std::vector<std::string> out;
  if (texts.empty()) return out;
  const std::string store = base_name(store_path);
  for (const std::string& name : list_dir(dir_name(store_path))) {
    const std::string path = join_path(dir_name(store_path), name);
    const auto file = stat_file(path);
    if (!name.starts_with(store) || !file || !file->is_regular) continue;
    CLAWMARK_ASSIGN(const bool found, holds_any(path, texts));
    if (found) out.push_back(path);
  }
  return out;
}

}  // namespace clawmark
