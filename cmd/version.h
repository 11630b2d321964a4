#pragma once
// Of what these programs were built. In a translation unit of its own, so that a new commit
// compiles one file.

#include <string_view>

namespace clawmark {

// "0.1.0 (2190fabc0ffe)"; without the parenthesis where no commit was known. "-dirty": the tree was
// changed.
std::string_view version_text();

}  // namespace clawmark
