#pragma once
// zstd frames (RFC 8878): payloads of the agent database, archives, the vault.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clawmark {

std::string zstd_compress(std::string_view text, int level = 3);
// Error: fatal, stage "zstd", reason "corrupt", "checksum", "cut" or "too_big" (more than bytes_max
// after decompression).
Result<std::string> zstd_decompress(std::span<const std::uint8_t> frame, std::size_t bytes_max);

// Decompresses a stream of frames piece by piece; feed() hands each output piece to `sink`.
// Error: fatal, stage "zstd", reason "checksum" (a frame's content is not what was put in: none of
// it can be trusted) or "corrupt" (what was handed out before it is of whole blocks).
class ZstdReader {
 public:
  ZstdReader();
  ~ZstdReader();
  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;
  Status feed(std::string_view input, const std::function<Status(std::string_view)>& sink);
  // No more input comes. Error: reason "cut", when it ends inside a frame or before the first.
  Status finish() const;
  // Whether the input so far ends with a whole frame.
  bool finished() const { return finished_; }

 private:
  void* stream_;
  bool finished_ = true;
  bool begun_ = false;
};

}  // namespace clawmark
