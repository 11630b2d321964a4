#pragma once
// Names of database files for SQLite, where a name may be a URI.

#include <string>
#include <string_view>

namespace clawmark {

// A path as a file: URI, so that '?', '#' and '%' in it are names and not syntax; `query`:
// "?mode=ro", or nothing.
std::string file_uri(const std::string& path, std::string_view query);

}  // namespace clawmark
