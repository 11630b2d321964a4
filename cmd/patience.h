#pragma once
// A prompt may not wait, a person at a shell may: an answer that came short because files were
// opened for the first time is asked for again.

#include "serve/api.h"

namespace clawmark {

HttpAnswer answer_patiently(Serving& serving, const HttpCall& call);

}  // namespace clawmark
