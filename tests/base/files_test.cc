// Files, locks, frames.

#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <future>

#include "base/zstd.h"

namespace clawmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "clawmark-XXXXXX").string();
    dir_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string file(const std::string& name) const { return dir_ + "/" + name; }
  std::string dir_;
};

int mode_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : -1;
}

TEST_F(FilesTest, an_atomic_write_replaces_the_whole_and_is_private) {
  const auto before = ::umask(0);
  ASSERT_TRUE(write_file_atomic(file("a"), "long long content").ok());
  ASSERT_TRUE(write_file_atomic(file("a"), "short").ok());
  ::umask(before);
  EXPECT_EQ(read_file(file("a")).value(), "short");
  EXPECT_EQ(mode_of(file("a")), 0600);
  EXPECT_THAT(list_dir(dir_), ElementsAre("a")) << "nothing is left beside it";
}

TEST_F(FilesTest, an_atomic_write_does_not_follow_a_link_laid_in_its_way) {
  ASSERT_TRUE(write_file_atomic(file("victim"), "theirs").ok());
  std::filesystem::create_symlink(file("victim"), file("a.tmp"));
  ASSERT_TRUE(write_file_atomic(file("a"), "ours").ok());
  EXPECT_EQ(read_file(file("victim")).value(), "theirs");
}

TEST_F(FilesTest, errors_say_what_and_where) {
  const auto missing = read_file(file("none"));
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(missing.error().reason, "missing");
  EXPECT_THAT(missing.error().message, HasSubstr(file("none")));
  ASSERT_TRUE(write_file_atomic(file("big"), std::string(100, 'x')).ok());
  EXPECT_EQ(read_file(file("big"), 99).error().reason, "too_big");
  EXPECT_EQ(read_file(file("big"), 100).value().size(), 100u);
  EXPECT_EQ(make_private_dir(file("big/sub")).error().reason, "not_a_folder");
}

TEST_F(FilesTest, folders_are_made_private_with_their_parents) {
  const auto before = ::umask(0);
  ASSERT_TRUE(make_private_dir(file("x/y/z")).ok());
  ::umask(before);
  EXPECT_EQ(mode_of(file("x")), 0700);
  EXPECT_EQ(mode_of(file("x/y/z")), 0700);
  EXPECT_TRUE(make_private_dir(file("x/y/z")).ok());
}

TEST_F(FilesTest, stat_follows_links_and_tells_kinds_apart) {
  ASSERT_TRUE(write_file_atomic(file("a"), "12345").ok());
  std::filesystem::create_symlink("a", file("link"));
  const auto info = stat_file(file("link")).value();
  EXPECT_EQ(info.size, 5);
  EXPECT_TRUE(info.is_regular);
  EXPECT_EQ(info.owner, ::getuid());
  EXPECT_EQ(info.inode, stat_file(file("a"))->inode);
  EXPECT_TRUE(stat_file(dir_)->is_directory);
  EXPECT_FALSE(stat_file(file("none")).has_value());
}

TEST_F(FilesTest, a_lock_is_held_for_life_and_names_its_holder) {
  {
    const auto first = FileLock::acquire(file("l"), "clawmarkd pid 4711 since a long time ago");
    ASSERT_TRUE(first.ok());
    const auto second = FileLock::acquire(file("l"), "other");
    EXPECT_EQ(second.error().kind, ErrorKind::kConflict);
    EXPECT_EQ(second.error().reason, "held");
    EXPECT_THAT(second.error().message, HasSubstr("clawmarkd pid 4711"));
  }
  const auto third = FileLock::acquire(file("l"), "short");
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(read_file(file("l")).value(), "short\n") << "nothing of the longer name is left";
  EXPECT_EQ(mode_of(file("l")), 0600);
}

TEST_F(FilesTest, who_has_the_lock_and_has_not_said_so_yet_is_waited_for) {
  const Fd owner(::open(file("l").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(owner.get(), LOCK_EX), 0);
  auto second =
      std::async(std::launch::async, [&] { return FileLock::acquire(file("l"), "other"); });
  ASSERT_EQ(::write(owner.get(), "pid 4711\n", 9), 9);
  const auto refused = second.get();
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("pid 4711"));
}

TEST_F(FilesTest, a_moved_lock_stays_held) {
  auto first = FileLock::acquire(file("l"), "one");
  const FileLock moved = std::move(first).value();
  EXPECT_FALSE(FileLock::acquire(file("l"), "two").ok());
}

TEST_F(FilesTest, a_local_folder_is_safe_also_before_it_is_made) {
  EXPECT_EQ(unsafe_filesystem(file("not/yet/there")), unsafe_filesystem(dir_));
}

TEST(Paths, are_joined_and_taken_apart) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(dir_name("/a/b/"), "/a");
  EXPECT_EQ(dir_name("/a"), "/");
  EXPECT_EQ(dir_name("a"), ".");
  EXPECT_EQ(base_name("/a/b/"), "b");
  EXPECT_EQ(base_name("a"), "a");
  EXPECT_EQ(expand_home("~/x"), join_path(home_dir(), "x"));
  EXPECT_EQ(expand_home("~"), home_dir());
  EXPECT_EQ(expand_home("a~/x"), "a~/x");
}

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Zstd, text_comes_back_also_empty_and_large) {
  for (const std::string& text :
       {std::string(), std::string("x"), std::string(1 << 20, 'a'), std::string("a\0b", 3)}) {
    const std::string frame = zstd_compress(text);
    EXPECT_EQ(zstd_decompress(as_bytes(frame), text.size()).value(), text);
  }
}

TEST(Zstd, frames_in_a_row_and_one_that_does_not_say_its_size_are_read_whole) {
  const std::string two = zstd_compress("one, ") + zstd_compress("two");
  EXPECT_EQ(zstd_decompress(as_bytes(two), 100).value(), "one, two");
  EXPECT_EQ(zstd_decompress(as_bytes(two), 7).error().reason, "too_big");
  // RFC 8878: magic, a header without a content size (window of 1 KB), one last raw block "abc".
  const std::string sizeless(
      "\x28\xB5\x2F\xFD\x00\x00\x19\x00\x00"
      "abc",
      12);
  EXPECT_EQ(zstd_decompress(as_bytes(sizeless), 3).value(), "abc");
  EXPECT_EQ(zstd_decompress(as_bytes(sizeless), 2).error().reason, "too_big");
}

TEST(Zstd, a_bomb_is_stopped_at_the_limit) {
  const std::string frame = zstd_compress(std::string(64 << 20, '\0'));
  EXPECT_EQ(zstd_decompress(as_bytes(frame), 1 << 20).error().reason, "too_big");
}

TEST(Zstd, every_cut_and_foreign_bytes_are_corrupt) {
  const std::string frame = zstd_compress("hello, hello, hello, world");
  for (std::size_t length = 0; length < frame.size(); ++length) {
    EXPECT_FALSE(zstd_decompress(as_bytes(frame.substr(0, length)), 1000).ok()) << length;
  }
  EXPECT_EQ(zstd_decompress(as_bytes("no frame at all"), 1000).error().reason, "corrupt");
}

TEST(Zstd, a_reader_fed_byte_by_byte_gives_all_frames) {
  const std::string text(300'000, 'q');
  const std::string frames = zstd_compress(text) + zstd_compress("tail");
  ZstdReader reader;
  std::string out;
  for (const char c : frames) {
    ASSERT_TRUE(reader
                    .feed({&c, 1},
                          [&](std::string_view piece) -> Status {
                            out += piece;
                            return Ok{};
                          })
                    .ok());
  }
  EXPECT_EQ(out, text + "tail");
  EXPECT_TRUE(reader.finished());
}

TEST(Zstd, an_error_of_the_sink_ends_the_feed) {
  ZstdReader reader;
  const auto status = reader.feed(zstd_compress("abc"), [](std::string_view) -> Status {
    return make_error(ErrorKind::kInvalid, "test", "enough", "");
  });
  EXPECT_EQ(status.error().reason, "enough");
}

}  // namespace
}  // namespace clawmark
