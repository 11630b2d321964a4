#include "base/result.h"

namespace clawmark {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kRetriable:
      return "retriable";
    case ErrorKind::kPoison:
      return "poison";
    case ErrorKind::kFatal:
      return "fatal";
    case ErrorKind::kInvalid:
      return "invalid";
    case ErrorKind::kNotFound:
      return "not_found";
    case ErrorKind::kConflict:
      return "conflict";
  }
  return "unknown";
}

std::string describe(const Error& error) {
  return error.stage + "/" + error.reason + ": " + error.message;
}

}  // namespace clawmark
