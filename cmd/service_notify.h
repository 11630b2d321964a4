#pragma once
// What systemd is told (sd_notify). Everything is a no-op outside of a Type=notify service.

#include <cstdint>
#include <string_view>

namespace clawmark {

void notify_ready(std::string_view status);
void notify_status(std::string_view status);
void notify_reloading(std::int64_t steady_us);
void notify_stopping();
void notify_watchdog();
// How often the watchdog must be fed, in milliseconds; 0: it does not watch.
std::int64_t watchdog_ms();

}  // namespace clawmark
