#pragma once

#include "base/config.h"
#include "sources/source.h"

namespace clawmark {

// Which carriers the configuration names.
SourceOptions source_options(const Config& config);
// The folder of the agents when it is there and this user may not read it; else empty.
std::string unreadable_agents(const Config& config);

}  // namespace clawmark
