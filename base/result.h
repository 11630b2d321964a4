#pragma once
// Errors as values. A Result<T> holds either a T or an Error; nothing is logged and passed over.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace clawmark {

// What the holder of an error may do about it.
enum class ErrorKind {
  kRetriable,  // the same call may succeed later: never skip, back off
  kPoison,     // this one input can never succeed: bisect to it, park it
  kFatal,      // this worker or process cannot go on: stop, health says so
  kInvalid,    // the caller's input is wrong; message names the thing and the remedy
  kNotFound,
  kConflict,  // lost a race or broke a uniqueness rule
};

std::string_view to_string(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::kFatal;
  std::string stage;    // bounded vocabulary: "sqlite", "source.lcm", "embed", "config", …
  std::string reason;   // bounded vocabulary within a stage: "busy", "corrupt", "http_401", …
  std::string message;  // for people; never holds message text or secrets
  std::optional<std::int64_t> retry_after_ms;  // the server's wish, if it gave one
};

// "stage/reason: message"
std::string describe(const Error& error);

struct Ok {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }
  T value_or(T fallback) && { return ok() ? std::move(*this).value() : std::move(fallback); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<Ok>;

inline Error make_error(ErrorKind kind, std::string stage, std::string reason,
                        std::string message) {
  return {kind, std::move(stage), std::move(reason), std::move(message), std::nullopt};
}

}  // namespace clawmark

// CLAWMARK_TRY(status_expr);  returns the error of a Result from the enclosing function.
#define CLAWMARK_TRY(expr)                            \
  do {                                                \
    if (auto try_result = (expr); !try_result.ok()) { \
      return std::move(try_result).error();           \
    }                                                 \
  } while (false)

#define CLAWMARK_CONCAT_INNER(a, b) a##b
#define CLAWMARK_CONCAT(a, b) CLAWMARK_CONCAT_INNER(a, b)
#define CLAWMARK_ASSIGN_INNER(result, declaration, expr) \
  auto result = (expr);                                  \
  if (!result.ok()) return std::move(result).error();    \
  declaration = std::move(result).value()

// CLAWMARK_ASSIGN(auto rows, read(…));  declares from a Result or returns its error.
#define CLAWMARK_ASSIGN(declaration, expr) \
  CLAWMARK_ASSIGN_INNER(CLAWMARK_CONCAT(assign_result_, __LINE__), declaration, expr)
