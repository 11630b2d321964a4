#pragma once
// The on-disk contract: numbered migrations, compiled in from schema/migrations/NNNN_name.sql.

#include <span>
#include <string_view>

namespace clawmark {

struct Migration {
  int number;
  std::string_view name;
  std::string_view sql;
};

// Ascending from 1 without gaps.
std::span<const Migration> migrations();

}  // namespace clawmark
