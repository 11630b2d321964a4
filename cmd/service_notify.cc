#include "cmd/service_notify.h"

#include <systemd/sd-daemon.h>

#include <string>

namespace clawmark {

void notify_ready(std::string_view status) {
  sd_notify(0, ("READY=1\nSTATUS=" + std::string(status)).c_str());
}

void notify_status(std::string_view status) {
  sd_notify(0, ("STATUS=" + std::string(status)).c_str());
}

void notify_reloading(std::int64_t steady_us) {
  sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(steady_us)).c_str());
}

void notify_stopping() {
  sd_notify(0, "STOPPING=1\nSTATUS=stopping");
}
void notify_watchdog() {
  sd_notify(0, "WATCHDOG=1");
}

std::int64_t watchdog_ms() {
  std::uint64_t usec = 0;
  if (sd_watchdog_enabled(0, &usec) <= 0) return 0;
  return static_cast<std::int64_t>(usec / 1000);
}

}  // namespace clawmark
