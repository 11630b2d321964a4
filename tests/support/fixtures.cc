#include "tests/support/fixtures.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/hash.h"
#include "test_paths.h"

namespace clawmark::support {
namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "clawmark-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TempDir::operator/(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

std::optional<std::string> shared_dir() {
  if (const char* named = std::getenv("CLAWMARK_SHARED")) {
    if (*named != '\0' && fs::is_directory(named)) return std::string(named);
    return std::nullopt;
  }
  const fs::path beside = fs::path(CLAWMARK_SOURCE_DIR).parent_path() / "shared";
  if (fs::is_directory(beside / "fixtures")) return beside.string();
  return std::nullopt;
}

std::optional<std::string> shared_path(std::string_view below) {
  const auto dir = shared_dir();
  if (!dir) return std::nullopt;
  const fs::path path = fs::path(*dir) / below;
  if (!fs::exists(path)) return std::nullopt;
  return path.string();
}

void copy_tree(const std::string& from, const std::string& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    const fs::path target = fs::path(to) / fs::relative(entry.path(), from);
    if (entry.is_directory()) {
      fs::create_directories(target);
    } else if (entry.is_regular_file()) {
      fs::create_directories(target.parent_path());
      fs::copy_file(entry.path(), target, fs::copy_options::overwrite_existing);
      fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
      fs::last_write_time(target, fs::last_write_time(entry.path()));
    }
  }
}

void write_text(const std::string& path, std::string_view content) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

void append_text(const std::string& path, std::string_view content) {
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) throw std::runtime_error("cannot append to " + path);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> list_files(const std::string& dir) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), dir).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string tree_digest(const std::string& dir) {
  Sha256 hash;
  for (const auto& file : list_files(dir)) {
    const std::string content = read_text(dir + "/" + file);
    hash.update(file).update(std::string_view("\0", 1)).update(to_hex(sha256(content)));
  }
  return to_hex(hash.finish());
}

}  // namespace clawmark::support
