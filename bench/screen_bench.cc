// How often ordinary talk is taken for a secret or for an order to the model.
//
//   clawmark-screen-bench FILE.jsonl…        files with one {"text": …} per line
//   clawmark-screen-bench --show FILE.jsonl  also prints what was found
//
// Nothing here judges whether a find is a false alarm: on public dialogues, in which nobody gives
// away keys or attacks a model, every find is.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/secrets.h"
#include "projections/facts.h"

namespace clawmark {
namespace {

struct Counts {
  std::size_t texts = 0, secrets = 0, orders = 0;
};

Counts count(const char* path, bool show) {
  Counts out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto parsed = parse_json(line);
    if (!parsed.ok() || !parsed->is_object()) continue;
    const std::string text = get_string(parsed->get_object(), "text");
    ++out.texts;
    const std::string rule = screen_for_injection(text);
    const bool secret = holds_secret(text);
    out.secrets += secret ? 1 : 0;
    out.orders += rule.empty() ? 0 : 1;
    if (show && (secret || !rule.empty())) {
      std::printf("%s%s: %.100000s\n", secret ? "secret " : "", rule.c_str(),
                  secret ? redact_secrets(text).c_str() : text.c_str());
    }
  }
  return out;
}

}  // namespace
}  // namespace clawmark

int main(int argc, char** argv) {
  bool show = false;
  std::printf("%-60s %8s %16s %16s\n", "file", "texts", "secrets", "orders");
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--show") {
      show = true;
      continue;
    }
    const auto counts = clawmark::count(argv[i], show);
    const auto share = [&](std::size_t n) {
      return 100.0 * static_cast<double>(n) /
             static_cast<double>(std::max<std::size_t>(1, counts.texts));
    };
    std::printf("%-60s %8zu %7zu (%5.2f%%) %7zu (%5.2f%%)\n", argv[i], counts.texts, counts.secrets,
                share(counts.secrets), counts.orders, share(counts.orders));
  }
  return 0;
}
