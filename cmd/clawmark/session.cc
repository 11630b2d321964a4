#include <cstdio>
#include <utility>

#include "base/files.h"
#include "base/scope.h"
#include "cmd/app.h"
#include "cmd/clawmark/command.h"
#include "cmd/config_flags.h"
#include "cmd/console_port.h"
#include "cmd/reader.h"
#include "cmd/unix_client.h"

namespace clawmark {

// Works out answers in this process. An app holds the store's lock as long as it lives.
struct Session::Local {
  std::unique_ptr<Reader> reader;
  std::unique_ptr<App> app;
};

namespace {

bool is_absent(const Error& error) {
  return error.stage == "socket" && error.reason == "absent";
}

}  // namespace

Session::Session(const Globals& globals) : globals_(globals) {}
Session::~Session() = default;

const Config& Session::config() {
  if (!config_) {
    config_ = std::make_unique<Config>(config_of_process(globals_.config_file, globals_.flags));
  }
  return *config_;
}

bool Session::daemon_answers() {
  return is_listening(config().socket);
}

Result<json::object> Session::call_daemon(std::string_view method, std::string_view target,
                                          const std::string& body, std::int64_t timeout_ms) {
  CLAWMARK_ASSIGN(const auto answer,
                  unix_request(config().socket, method, target, body, timeout_ms));
  return parse_api_answer(answer.status, answer.body);
}

Result<Session::Local*> Session::local(Access access) {
  if (!local_) local_ = std::make_unique<Local>();
  if (access == Access::kRead && !local_->app) {
    if (!local_->reader) local_->reader = std::make_unique<Reader>(config());
    return local_.get();
  }
  if (!local_->app) {
    // A mistyped path must not make a store of its own.
    const auto file = stat_file(config().db_path);
    if (access != Access::kCreate && (!file || file->size == 0)) {
      return make_error(ErrorKind::kNotFound, "store", "missing",
                        "there is no store at " + config().db_path +
                            " yet: start clawmarkd once, or correct db_path");
    }
    CLAWMARK_ASSIGN(local_->app, App::open(config(), "clawmark"));
  }
  return local_.get();
}

Result<json::object> Session::ask(std::string_view command, json::object params, Access access,
                                  std::int64_t timeout_ms) {
  // A mistyped key may be that of the store's path: nothing is written on such terms.
  if (!config().problems.empty()) {
    if (access != Access::kRead) {
      return make_error(ErrorKind::kInvalid, "config", "config",
                        config().problems.front() + "; nothing was changed");
    }
    if (!std::exchange(problems_told_, true)) {
      for (const auto& problem : config().problems) {
        std::fprintf(stderr, "clawmark: %s\n", problem.c_str());
      }
    }
  }
  const std::string target = "/v1/admin/" + std::string(command);
  const std::string body = to_text(json::object{{"params", std::move(params)}});
  if (!local_) {
    auto answer = call_daemon("POST", target, body, timeout_ms);
    if (answer.ok() || !is_absent(answer.error())) return answer;
  }
  CLAWMARK_ASSIGN(Local * here, local(access));
  const HttpCall call{"POST", target, {}, body};
  const HttpAnswer answer = here->app ? here->app->answer(call) : here->reader->answer(call);
  return parse_api_answer(answer.status, answer.body);
}

Result<json::object> Session::get(std::string_view target) {
  auto answer = call_daemon("GET", target, "", 10'000);
  if (answer.ok() || !is_absent(answer.error())) return answer;
  CLAWMARK_ASSIGN(Local * here, local(Access::kRead));
  const HttpAnswer worked_out = here->reader->answer({"GET", std::string(target), {}, ""});
  return parse_api_answer(worked_out.status, worked_out.body);
}

json::object Session::with_eyes(json::object params) const {
  if (!globals_.agent.empty()) params["agent"] = globals_.agent;
  if (!globals_.session_key.empty()) {
    if (globals_.agent.empty()) {
      if (const auto key = parse_session_key(globals_.session_key); !key.agent.empty()) {
        params["agent"] = key.agent;
      }
    }
    if (globals_.as.empty()) {
      params["as"] = globals_.session_key;
    } else {
      params["session_key"] = globals_.session_key;
    }
  }
  if (!globals_.as.empty()) params["as"] = globals_.as;
  return params;
}

int Session::fail(const Error& error) const {
  if (globals_.json) {
    std::printf("%s\n", to_text(json::object{{"error", json::object{{"code", error.reason},
                                                                    {"message", error.message}}}})
                            .c_str());
  }
  std::fprintf(stderr, "clawmark: %s\n", error.message.c_str());
  if (error.stage == "lock" || error.reason == "held") return kExitHeld;
  if (error.reason == "missing" || error.reason == "no_store") return kExitNoStore;
  if (error.stage == "store" || error.reason == "store_unusable") return kExitUnusable;
  return error.kind == ErrorKind::kInvalid ? kExitUsage : kExitFailed;
}

int Session::finish(const Result<json::object>& answer,
                    const std::function<void(const json::object&)>& text) {
  if (!answer) return fail(answer.error());
  if (globals_.json) {
    std::printf("%s\n", to_text(*answer).c_str());
  } else {
    text(*answer);
  }
  if (get_bool(*answer, "ok", true)) return kExitOk;
  // The text says why: what was asked for makes no sense, or a rule refuses it.
  const auto* details = find_object(*answer, "details");
  return details != nullptr && get_bool(*details, "invalid") ? kExitUsage : kExitFailed;
}

}  // namespace clawmark
