#include "serve/api.h"

#include <algorithm>
#include <array>

#include "base/limits_mcp.h"
#include "base/logging.h"
#include "serve/admin.h"
#include "serve/context.h"
#include "serve/inject.h"
#include "serve/query_desk.h"
#include "serve/sharing.h"
#include "serve/status.h"
#include "serve/tool_repl.h"
#include "serve/tool_world.h"
#include "serve/tools.h"

namespace clawmark {
namespace {

constexpr std::string_view kToolPrefix = "/v1/tools/";
constexpr std::string_view kAdminPrefix = "/v1/admin/";

HttpAnswer ok(const json::object& body) {
  return {200, "application/json", to_text(body)};
}

HttpAnswer fail(int status, std::string_view code, std::string_view message) {
  json::object body = protocol_object();
  body["error"] = json::object{{"code", code}, {"message", message}};
  return {status, "application/json", to_text(body)};
}

HttpAnswer fail(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return fail(400, "invalid", error.message);
    case ErrorKind::kNotFound:
      return fail(404, error.stage == "api" || error.stage == "tools" ? "not_found" : "no_store",
                  error.message);
    case ErrorKind::kConflict:
      return fail(409, "conflict", error.message);
    case ErrorKind::kRetriable:
      return fail(503, "unavailable", error.message);
    default:
      return fail(500, error.stage == "store" ? "store_unusable" : "internal", error.message);
  }
}

struct ApiCall {
  Serving& serving;
  const json::object& body;
  std::string_view rest;  // of the path, behind a prefix
};

const json::object& object_of(const json::object& body, std::string_view key) {
  static const json::object kEmpty;
  const auto* found = find_object(body, key);
  return found == nullptr ? kEmpty : *found;
}

HttpAnswer post_inject(const ApiCall& call) {
  Serving& serving = call.serving;
  const std::int64_t started = serving.clock.steady_ms();
  const auto config = serving.config();
  if (const auto* prompt = call.body.if_contains("prompt"); prompt && !prompt->is_string()) {
    return fail(400, "invalid", "prompt: expected a string");
  }
  const Caller caller = parse_caller(object_of(call.body, "caller"));
  InjectRequest request = parse_inject(call.body, *config);
  request.session_id = caller.session_id;
  InjectAnswer answer;
  if (!config->problems.empty()) {
    answer.skipped = "inert";
  } else {
    auto lease = serving.readers.lease();
    if (!lease.ok()) return fail(lease.error());
    const Sight sight = configured_sight(caller, *config, **lease);
    if (serving.desk != nullptr) serving.desk->begin_turn(repl_owner(sight));
    answer = inject(serving, **lease, sight, request);
  }
  answer.elapsed_ms = static_cast<double>(serving.clock.steady_ms() - started);
  serving.metrics.observe("clawmark_inject_seconds", {}, answer.elapsed_ms / 1000);
  return ok(to_json(answer));
}

// Of the host's context; or, for a client that is bound to somebody (`clawmark mcp`), of `as`: such
// a one has no turns, so they go by the clock.
Result<Sight> tool_sight(Serving& serving, Database& db, const json::object& body) {
  if (!body.contains("as")) {
    return configured_sight(parse_caller(object_of(body, "caller")), *serving.config(), db);
  }
  if (body.contains("caller") || get_string(body, "as").empty() ||
      get_string(body, "as") == "all") {
    return make_error(ErrorKind::kInvalid, "api", "bad_as",
                      "as names one pair of eyes, and stands without a caller");
  }
  CLAWMARK_ASSIGN(Sight sight, operator_sight(db, body));
  if (serving.desk != nullptr) serving.desk->begin_turn_by_clock(repl_owner(sight), kMcpTurnMs);
  return sight;
}

HttpAnswer post_tool(const ApiCall& call) {
  Serving& serving = call.serving;
  if (!is_tool(call.rest)) return fail(404, "not_found", "there is no such tool");
  const auto config = serving.config();
  if (!config->problems.empty()) {
    return fail(503, "inert",
                "memory is off until its configuration is complete: " + config->problems.front());
  }
  auto lease = serving.readers.lease();
  if (!lease.ok()) return fail(lease.error());
  auto sight = tool_sight(serving, **lease, call.body);
  if (!sight.ok()) return fail(sight.error());
  if (call.rest == "clawmark_forget" || call.rest == "clawmark_review") drop_shares(*sight);
  const std::string session_id = parse_caller(object_of(call.body, "caller")).session_id;
  const ToolCallContext context{serving, **lease, *sight, session_id, "tool", true};
  auto answer = call_tool(context, call.rest, object_of(call.body, "params"));
  if (!answer.ok()) return fail(answer.error());
  json::object body = protocol_object();
  body["ok"] = answer->ok;
  body["text"] = answer->text;
  body["details"] = answer->details;
  return ok(body);
}

// The same two ways in: what stands for the earlier part of a conversation, as it is, or once what
// waits has been summarised (within `wait_ms`; it goes on behind that).
HttpAnswer answer_context(const ApiCall& call, bool summarise) {
  Serving& serving = call.serving;
  const auto config = serving.config();
  if (!config->problems.empty()) {
    return fail(503, "inert",
                "memory is off until its configuration is complete: " + config->problems.front());
  }
  const bool asks = !config->extract_url.empty() || !config->summary_url.empty();
  if (summarise && serving.writer != nullptr && asks) {
    const auto wait = std::clamp<std::int64_t>(get_int(call.body, "wait_ms"), 0, kReconcileWaitMs);
    const auto done = serving.writer->reconcile(true, wait);
    if (!done.ok()) return fail(done.error());
  }
  auto lease = serving.readers.lease();
  if (!lease.ok()) return fail(lease.error());
  const Caller caller = parse_caller(object_of(call.body, "caller"));
  const Sight sight = configured_sight(caller, *config, **lease);
  const auto answer =
      conversation_context(serving, **lease, sight, caller.session_id, parse_context(call.body));
  return answer.ok() ? ok(to_json(*answer)) : fail(answer.error());
}

HttpAnswer post_assemble(const ApiCall& call) {
  return answer_context(call, false);
}

HttpAnswer post_compact(const ApiCall& call) {
  return answer_context(call, true);
}

// Which of these texts hold large contents that are known, and what stands in their place.
HttpAnswer post_files(const ApiCall& call) {
  constexpr std::size_t kHashesMax = 200;
  auto lease = call.serving.readers.lease();
  if (!lease.ok()) return fail(lease.error());
  const auto sight = tool_sight(call.serving, **lease, call.body);
  if (!sight.ok()) return fail(sight.error());
  const FileScope scope{sight->scope.agent, sight->audiences};
  json::object known;
  const auto* hashes = find_array(call.body, "hashes");
  for (std::size_t n = 0; hashes != nullptr && n < hashes->size() && n < kHashesMax; ++n) {
    if (!(*hashes)[n].is_string()) continue;
    const std::string_view hex = view((*hashes)[n].get_string());
    const auto hash = hash_from_hex(hex);
    if (!hash) continue;
    const auto files = large_files_of_text(**lease, scope, *hash);
    if (!files.ok()) return fail(files.error());
    json::array parts;
    for (const LargeFileRow& file : *files) {
      parts.push_back(json::object{{"id", file.id},
                                   {"start", file.start},
                                   {"bytes", file.bytes},
                                   {"tokens", file.tokens},
                                   {"text", file_reference(file)}});
    }
    if (!parts.empty()) known[hex] = std::move(parts);
  }
  json::object body = protocol_object();
  body["files"] = std::move(known);
  return ok(body);
}

HttpAnswer post_notify(const ApiCall& call) {
  const std::string kind = get_string(call.body, "kind");
  const Caller caller = parse_caller(object_of(call.body, "caller"));
  if (call.serving.writer != nullptr) call.serving.writer->notify(caller, kind);
  return {202, "application/json", to_text(protocol_object())};
}

HttpAnswer post_hello(const ApiCall& call) {
  Serving& serving = call.serving;
  Handshake handshake;
  handshake.plugin_version = get_string(call.body, "plugin_version");
  handshake.host_version = get_string(call.body, "host_version");
  handshake.placement = object_of(call.body, "placement");
  if (const auto* hooks = find_array(call.body, "blocked_hooks")) handshake.blocked_hooks = *hooks;
  handshake.context_mode = get_string(call.body, "context_mode");
  handshake.at = serving.clock.now();
  const auto config = serving.config();
  if (serving.writer != nullptr && config->problems.empty()) {
    const auto kept =
        serving.writer->run("serve_context", {{"ours", !handshake.context_mode.empty()}});
    handshake.keeps_all = kept.ok() && get_bool(*kept, "keeps_all");
  }
  serving.set_handshake(std::move(handshake));
  json::object body = protocol_object();
  body["version"] = serving.version;
  body["inert"] = !config->problems.empty();
  // What recursive-claw's users set for the service counts for its plugin.
  json::object context{{"mode", config->rc_mode}};
  const auto told = [&](const char* key) {
    const auto origin = config->origins.find(key);
    return origin != config->origins.end() && origin->second != "default";
  };
  if (told("rc_fresh_tail")) context["fresh_tail"] = config->rc_fresh_tail;
  if (told("wc_fresh_tail_count")) context["world_fresh_tail"] = config->wc_fresh_tail_count;
  if (told("wc_context_threshold")) context["world_threshold"] = config->wc_context_threshold;
  body["context"] = std::move(context);
  return ok(body);
}

HttpAnswer post_admin(const ApiCall& call) {
  auto lease = call.serving.readers.lease();
  if (!lease.ok()) return fail(lease.error());
  auto answer = run_admin(call.serving, **lease, call.rest, object_of(call.body, "params"));
  if (!answer.ok()) return fail(answer.error());
  json::object body = std::move(answer).value();
  body["protocol"] = kProtocol;
  return ok(body);
}

HttpAnswer get_status(const ApiCall& call) {
  return ok(status_json(call.serving));
}

HttpAnswer get_health(const ApiCall& call) {
  for (const Warning& warning : warnings(call.serving)) {
    if (warning.red) return {503, "text/plain; charset=utf-8", warning.message + "\n"};
  }
  return {200, "text/plain; charset=utf-8", "ok\n"};
}

HttpAnswer get_metrics(const ApiCall& call) {
  return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(call.serving)};
}

struct Route {
  std::string_view method, path;  // a path that ends in '/' is a prefix
  HttpAnswer (*answer)(const ApiCall&);
};
constexpr std::array<Route, 11> kRoutes = {{{"POST", "/v1/inject", post_inject},
                                            {"POST", kToolPrefix, post_tool},
                                            {"POST", "/v1/assemble", post_assemble},
                                            {"POST", "/v1/compact", post_compact},
                                            {"POST", "/v1/files", post_files},
                                            {"POST", "/v1/notify", post_notify},
                                            {"POST", "/v1/hello", post_hello},
                                            {"POST", kAdminPrefix, post_admin},
                                            {"GET", "/v1/status", get_status},
                                            {"GET", "/healthz", get_health},
                                            {"GET", "/metrics", get_metrics}}};

HttpAnswer run_route(Serving& serving, const Route& route, std::string_view path,
                     const HttpCall& call) {
  json::object body;
  if (route.method == "POST" && !call.body.empty()) {
    auto parsed = parse_json(call.body);
    if (!parsed.ok()) return fail(400, "bad_json", "the body is no JSON");
    if (!parsed->is_object()) return fail(400, "bad_json", "the body is no JSON object");
    body = std::move(parsed->as_object());
  }
  return route.answer({serving, body, path.substr(std::min(path.size(), route.path.size()))});
}

}  // namespace

HttpAnswer answer_call(Serving& serving, const HttpCall& call) {
  const std::string_view path = std::string_view(call.target).substr(0, call.target.find('?'));
  const Route* found = nullptr;
  bool other_method = false;
  for (const Route& route : kRoutes) {
    const bool prefix = route.path.ends_with('/');
    if (prefix ? !path.starts_with(route.path) || path.size() == route.path.size()
               : path != route.path) {
      continue;
    }
    if (route.method == call.method) {
      found = &route;
    } else {
      other_method = true;
    }
  }
  HttpAnswer answer = found != nullptr ? run_route(serving, *found, path, call)
                      : other_method   ? fail(405, "bad_method", "this path takes another method")
                                       : fail(404, "not_found", "there is no such path");
  const std::string_view route = found == nullptr ? "none" : found->path;
  serving.metrics.count("clawmark_requests_total",
                        Metrics::label("route", route) + "," +
                            Metrics::label("status", std::to_string(answer.status)));
  return answer;
}

bool is_slow_target(std::string_view target) {
  return target.starts_with("/v1/tools/clawmark_reconcile") ||
         target.starts_with("/v1/tools/clawmark_forget") || target.starts_with("/v1/tools/rc_") ||
         target.starts_with("/v1/admin/rc_") || target.starts_with("/v1/admin/forget") ||
         target.starts_with("/v1/admin/reconcile") || target.starts_with("/v1/admin/rebuild") ||
         target.starts_with("/v1/admin/verify") || target.starts_with("/v1/compact") ||
         target.starts_with("/v1/status") || target.starts_with("/metrics");
}

}  // namespace clawmark
