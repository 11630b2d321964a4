#pragma once
// Several texts as one parameter of a statement: "… IN (SELECT value FROM json_each(?))".

#include <string>
#include <vector>

#include "base/json.h"

namespace clawmark {

inline std::string text_list(const std::vector<std::string>& texts) {
  return to_text(json::value(json::array(texts.begin(), texts.end())));
}

}  // namespace clawmark
