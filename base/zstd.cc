#include "base/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <vector>

namespace clawmark {
namespace {

Error corrupt(const char* detail, const char* reason = "corrupt") {
  return make_error(ErrorKind::kFatal, "zstd", reason, std::string("zstd frame: ") + detail);
}

Error frame_error(std::size_t code) {
  const bool checksum = ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong;
  return corrupt(ZSTD_getErrorName(code), checksum ? "checksum" : "corrupt");
}

Error too_big() {
  return make_error(ErrorKind::kFatal, "zstd", "too_big", "zstd frame holds more than the limit");
}

// For a frame that says its size: in one go, with a context that each thread keeps (making one, and
// the buffers of a stream, costs more than a short text).
Result<std::string> decompress_known(std::span<const std::uint8_t> frame, std::size_t size) {
  static thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> kContext(
      ZSTD_createDCtx(), &ZSTD_freeDCtx);
  std::string out(size, '\0');
  const std::size_t code =
      ZSTD_decompressDCtx(kContext.get(), out.data(), size, frame.data(), frame.size());
  if (ZSTD_isError(code)) return frame_error(code);
  if (code != size) return corrupt("another size than it says");
  return out;
}

}  // namespace

std::string zstd_compress(std::string_view text, int level) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level);
  out.resize(ZSTD_isError(size) ? 0 : size);
  return out;
}

Result<std::string> zstd_decompress(std::span<const std::uint8_t> frame, std::size_t bytes_max) {
  const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  const bool is_single = ZSTD_findFrameCompressedSize(frame.data(), frame.size()) == frame.size();
  if (is_single && size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR) {
    if (size > bytes_max) return too_big();
    return decompress_known(frame, static_cast<std::size_t>(size));
  }
  ZstdReader reader;
  std::string out;
  CLAWMARK_TRY(reader.feed({reinterpret_cast<const char*>(frame.data()), frame.size()},
                           [&](std::string_view piece) -> Status {
                             if (out.size() + piece.size() > bytes_max) {
                               return too_big();
                             }
                             out.append(piece);
                             return Ok{};
                           }));
  CLAWMARK_TRY(reader.finish());
  return out;
}

ZstdReader::ZstdReader() : stream_(ZSTD_createDStream()) {}
ZstdReader::~ZstdReader() {
  ZSTD_freeDStream(static_cast<ZSTD_DStream*>(stream_));
}

Status ZstdReader::finish() const {
  if (begun_ && finished_) return Ok{};
  return corrupt("cut short", "cut");
}

Status ZstdReader::feed(std::string_view input,
                        const std::function<Status(std::string_view)>& sink) {
  if (input.empty()) return Ok{};
  begun_ = true;
  std::vector<char> buffer(ZSTD_DStreamOutSize());
  ZSTD_inBuffer in{input.data(), input.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    const std::size_t code = ZSTD_decompressStream(static_cast<ZSTD_DStream*>(stream_), &out, &in);
    if (ZSTD_isError(code)) return frame_error(code);
    finished_ = code == 0;
    if (out.pos > 0) CLAWMARK_TRY(sink({buffer.data(), out.pos}));
    if (in.pos == in.size && (finished_ || out.pos < out.size)) return Ok{};
  }
}

}  // namespace clawmark
