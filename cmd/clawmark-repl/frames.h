#pragma once
// Frames on the socket to the service: four bytes of length, the lowest first, then JSON.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace clawmark::repl {

constexpr std::size_t kFrameMax = std::size_t{4} << 20;

// nullopt: the service is gone, or the frame is too long.
std::optional<std::string> read_frame();
bool write_frame(std::string_view payload);

// As a JSON string, with its quotes.
std::string quoted(std::string_view utf8);

}  // namespace clawmark::repl
