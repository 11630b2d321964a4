#pragma once

#include <string>

namespace clawmark {

// A random UUID (version 4): the identity of something that a user stated.
std::string new_id();

}  // namespace clawmark
