#pragma once
// POST /v1/admin/{command} for what people look through: `conversations`, `summaries`, `world`,
// `fact`, `changes`, `spend`. All of it read only, and through the eyes that `as` names.

#include <optional>
#include <string_view>

#include "serve/serving.h"

namespace clawmark {

// nullopt: not one of these commands.
std::optional<Result<json::object>> run_console(Serving& serving, Database& db,
                                                std::string_view command,
                                                const json::object& params);

}  // namespace clawmark
