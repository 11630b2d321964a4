#include <cstdio>

#include "cmd/rows.h"

namespace clawmark {

void print_status(const json::object& status, std::string_view zone) {
  std::printf("clawmark %s%s\n", get_string(status, "version").c_str(),
              get_bool(status, "inert") ? "  INERT: the configuration is incomplete" : "");
  std::printf("store %s\n", get_string(status, "store").c_str());
  if (const std::string error = get_string(status, "store_error"); !error.empty()) {
    std::printf("  ! %s\n", error.c_str());
  }
  if (const auto* warnings = find_array(status, "warnings"); warnings != nullptr) {
    for (const auto& warning : *warnings) {
      if (!warning.is_object()) continue;
      std::printf("  ! %s\n", get_string(warning.get_object(), "message").c_str());
    }
  }
  if (const std::string progress = get_string(status, "progress"); !progress.empty()) {
    std::printf("%s\n", progress.c_str());
  }
  const auto table = [&](const char* title, std::string_view name,
                         const std::vector<std::string>& columns) {
    const auto* rows = find_array(status, name);
    if (rows == nullptr || rows->empty()) return;
    std::printf("\n%s\n", title);
    print_rows(status, name, columns, zone, "");
  };
  table("Sources", "sources",
        {"carrier", "path", "state", "reason", "streams", "newest_at:newest", "counters"});
  table("Workers", "workers",
        {"name", "state", "position", "lag", "attempts", "retry_at:next try", "failure"});
  for (const char* name : {"counts", "spend", "index", "plugin", "refusals", "degraded"}) {
    const auto* object = find_object(status, name);
    if (object == nullptr || object->empty()) continue;
    std::printf("\n%s\n", name);
    for (const auto& member : *object) {
      const std::string key(member.key());
      const std::string value = cell(*object, key, zone);
      if (!value.empty()) std::printf("  %-20s %s\n", key.c_str(), value.c_str());
    }
  }
}

}  // namespace clawmark
