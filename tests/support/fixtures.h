#pragma once
// Folders for tests: a temporary one, the shared fixtures where there are any, copies.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clawmark::support {

// A new folder (mode 0700), removed with everything in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const;

 private:
  std::string path_;
};

// The folder with fixtures/, cases.jsonl and eval/: CLAWMARK_SHARED, else <repository>/../shared;
// nullopt: none.
std::optional<std::string> shared_dir();
// A folder or file below it, when it exists.
std::optional<std::string> shared_path(std::string_view below);

// Copies a folder with its content; what it copies is writable by the owner, times are kept.
void copy_tree(const std::string& from, const std::string& to);
void write_text(const std::string& path, std::string_view content);  // makes the folders; replaces
void append_text(const std::string& path, std::string_view content);
std::string read_text(const std::string& path);
// All regular files below, relative, sorted.
std::vector<std::string> list_files(const std::string& dir);
// SHA-256 over names and bytes of all files below: equal when nothing changed.
std::string tree_digest(const std::string& dir);

}  // namespace clawmark::support
