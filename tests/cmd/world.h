#pragma once
// A home folder with the bundled sample in it, and our programs run there.

#include <cstdlib>
#include <stdexcept>

#include "base/json.h"
#include "cmd/clawmark-sample/sample.h"
#include "test_paths.h"
#include "tests/cmd/process.h"

namespace clawmark::support {

class World {
 public:
  explicit World(bool with_sample = true) {
    if (!with_sample) return;
    SampleOptions options;
    options.story_dir = std::string(CLAWMARK_SOURCE_DIR) + "/deploy/sample";
    options.state_dir = state();
    const auto counts = write_sample(options);
    if (!counts.ok()) throw std::runtime_error(describe(counts.error()));
  }

  std::string home() const { return dir_.path(); }
  std::string state() const { return dir_ / ".openclaw"; }
  std::string db() const { return dir_ / ".local/share/clawmark/clawmark.db"; }
  std::string socket() const { return dir_ / ".local/share/clawmark/clawmark.sock"; }
  std::string operator/(std::string_view name) const { return dir_ / name; }

  Process::Environment environment() const {
    // The sample is told of November 2026; the date of the machine does not matter to it.
    Process::Environment out{{"HOME", home()}, {"TZ", "UTC"}, {"PATH", "/usr/bin:/bin"}};
    for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
      if (const char* value = std::getenv(name)) out[name] = value;
    }
    for (const auto& [name, value] : extra) out[name] = value;
    return out;
  }
  Outcome clawmark(std::vector<std::string> arguments) const {
    return run("clawmark", std::move(arguments), environment());
  }
  json::object clawmark_json(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "--json");
    const Outcome outcome = clawmark(std::move(arguments));
    auto parsed = parse_json(outcome.out);
    if (!parsed.ok() || !parsed->is_object())
      throw std::runtime_error("no JSON: " + outcome.out + outcome.err);
    return parsed->get_object();
  }
  Outcome once() const { return run("clawmarkd", {"--once"}, environment()); }

  Process::Environment extra;

 private:
  TempDir dir_;
};

}  // namespace clawmark::support
