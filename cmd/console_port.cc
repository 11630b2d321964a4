#include "cmd/console_port.h"

#include "cmd/patience.h"
#include "cmd/reader.h"
#include "cmd/unix_client.h"

namespace clawmark {

Result<json::object> parse_api_answer(int status, std::string_view body) {
  auto parsed = parse_json(body);
  if (!parsed || !parsed->is_object()) {
    return make_error(ErrorKind::kFatal, "api", "answer", "the daemon's answer is not JSON");
  }
  json::object answer = std::move(parsed->get_object());
  if (status < 400) return answer;
  const auto* error = find_object(answer, "error");
  const std::string code = error == nullptr ? "" : get_string(*error, "code");
  const std::string message =
      error == nullptr ? "it answered " + std::to_string(status) : get_string(*error, "message");
  ErrorKind kind = ErrorKind::kFatal;
  if (status == 400) kind = ErrorKind::kInvalid;
  if (status == 404) kind = ErrorKind::kNotFound;
  if (status == 409) kind = ErrorKind::kConflict;
  if (status == 503) kind = ErrorKind::kRetriable;
  return make_error(kind, "api", code, message);
}

ConsolePort::ConsolePort(Config config, bool store_only)
    : config_(std::move(config)), store_only_(store_only) {}

ConsolePort::~ConsolePort() = default;

Result<HttpAnswer> ConsolePort::forward(const HttpCall& call, std::int64_t timeout_ms,
                                        const std::atomic<bool>* stop) {
  if (!store_only_) {
    auto answer = ask_patiently(call, [&](const HttpCall& again) -> Result<HttpAnswer> {
      CLAWMARK_ASSIGN(auto told, unix_request(config_.socket, again.method, again.target,
                                              again.body, timeout_ms, stop));
      return HttpAnswer{told.status, "application/json", std::move(told.body), {}};
    });
    if (answer.ok() || answer.error().reason != "absent") return answer;
  }
  const std::lock_guard lock(mutex_);
  if (!reader_) reader_ = std::make_unique<Reader>(config_);
  return reader_->answer(call);
}

Result<json::object> ConsolePort::ask(std::string_view method, std::string_view target,
                                      const json::object& body, std::int64_t timeout_ms,
                                      const std::atomic<bool>* stop) {
  const HttpCall call{std::string(method),
                      std::string(target),
                      {},
                      method == "GET" ? std::string() : to_text(body)};
  CLAWMARK_ASSIGN(const HttpAnswer answer, forward(call, timeout_ms, stop));
  return parse_api_answer(answer.status, answer.body);
}

}  // namespace clawmark
