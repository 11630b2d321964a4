// clawmark-sample DIR [--start YYYY-MM-DD] [--story DIR]: writes the bundled sample as an OpenClaw
// state folder.

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "cmd/clawmark-sample/sample.h"

int main(int argc, char** argv) {
  CLI::App app{"Writes the bundled sample as an OpenClaw state folder"};
  clawmark::SampleOptions options;
  options.story_dir = CLAWMARK_SAMPLE_DIR;
  std::string start = "2026-11-02";
  app.add_option("dir", options.state_dir, "folder to write; must not hold agents/ yet")
      ->required();
  app.add_option("--start", start, "date of the story's first day, YYYY-MM-DD");
  app.add_option("--story", options.story_dir, "folder with people.json and sessions/");
  CLI11_PARSE(app, argc, argv);
  const auto part = [&](std::size_t at, std::size_t digits, int& value) {
    const char* const from = start.data() + at;
    const auto end = std::from_chars(from, from + digits, value);
    return end.ec == std::errc() && end.ptr == from + digits;
  };
  if (start.size() != 10 || start[4] != '-' || start[7] != '-' || !part(0, 4, options.year) ||
      !part(5, 2, options.month) || !part(8, 2, options.day)) {
    std::fprintf(stderr, "clawmark-sample: --start must look like 2026-11-02\n");
    return 2;
  }
  const auto counts = clawmark::write_sample(options);
  if (!counts) {
    std::fprintf(stderr, "clawmark-sample: %s\n", clawmark::describe(counts.error()).c_str());
    return 1;
  }
  std::printf("%s: %zu sessions, %zu messages\n", options.state_dir.c_str(), counts->sessions,
              counts->messages);
  return 0;
}
