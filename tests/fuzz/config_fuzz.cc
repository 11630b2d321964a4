#include <sys/mman.h>
#include <unistd.h>

#include "base/config.h"
#include "base/json.h"
#include "base/secrets.h"
#include "tests/fuzz/targets.h"

namespace clawmark::fuzz {
namespace {

// A file in memory: nothing is written to a disk.
std::string memory_file(std::string_view data) {
  static const int fd = ::memfd_create("config", MFD_CLOEXEC);
  require(fd >= 0 && ::ftruncate(fd, 0) == 0 && ::pwrite(fd, data.data(), data.size(), 0) >= 0,
          "a file in memory");
  return "/proc/self/fd/" + std::to_string(fd);
}

}  // namespace

void fuzz_config(std::string_view data) {
  ConfigInputs inputs;
  inputs.environment = {{"HOME", "/nowhere"}, {"CLAWMARK_EMBEDDING_API_KEY", "sk-fuzz-0123456789"}};
  inputs.file = memory_file(data);
  const std::size_t half = data.size() / 2;
  const auto keys = config_keys();
  if (!data.empty()) {
    const auto& key = keys[static_cast<unsigned char>(data[0]) % keys.size()];
    inputs.flags[std::string(key.name)] = std::string(data.substr(half));
  }
  const Config config = load_config(inputs);
  require(config.recall_limit >= 0 && config.recall_limit <= 50, "recall_limit is in its range");
  require(config.confidence_threshold >= 0 && config.confidence_threshold <= 1,
          "confidence_threshold is in its range");
  require(config.idle_hours > 0, "idle_hours is in its range");
  for (const auto& [name, value] : show_config(config)) {
    require(value.find("sk-fuzz-0123456789") == std::string::npos ||
                config.embedding_api_key != "sk-fuzz-0123456789",
            "a secret is not shown");
  }
  (void)redact_secrets(data);
  (void)parse_json_relaxed(data);
}

}  // namespace clawmark::fuzz
