#pragma once

#include "base/config.h"
#include "sources/source.h"

namespace clawmark {

// Which carriers the configuration names.
SourceOptions source_options(const Config& config);

}  // namespace clawmark
