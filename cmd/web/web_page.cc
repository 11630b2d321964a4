#include "cmd/web/web_page.h"

#include <algorithm>
#include <array>

#include "cmd/web/assets.h"

namespace clawmark {
namespace {

struct Asset {
  std::string_view path, type;
  std::string_view (*text)();
};
constexpr std::array<Asset, 8> kAssets = {{
    {"/", "text/html; charset=utf-8", web_index_html},
    {"/style.css", "text/css; charset=utf-8", web_style_css},
    {"/app.js", "text/javascript; charset=utf-8", web_app_js},
    {"/dom.js", "text/javascript; charset=utf-8", web_dom_js},
    {"/memory.js", "text/javascript; charset=utf-8", web_memory_js},
    {"/world.js", "text/javascript; charset=utf-8", web_world_js},
    {"/recall.js", "text/javascript; charset=utf-8", web_recall_js},
    {"/health.js", "text/javascript; charset=utf-8", web_health_js},
}};

// What the page may ask; all of it only looks.
constexpr std::array<std::string_view, 21> kLooks = {
    "changes",  "conversations", "episodes", "events", "expand",      "explain",   "fact",
    "facts",    "files",         "graph",    "inject", "parked_list", "rc_grep",   "rc_peek",
    "rc_slice", "rc_timeline",   "restore",  "search", "spend",       "summaries", "world"};

// Nothing of another origin is loaded, no text becomes code or markup, and no other page may hold
// this one in a frame.
constexpr char kPolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

HttpAnswer with_headers(HttpAnswer answer) {
  answer.headers = {{"Content-Security-Policy", kPolicy},
                    {"X-Content-Type-Options", "nosniff"},
                    {"X-Frame-Options", "DENY"},
                    {"Referrer-Policy", "no-referrer"},
                    {"Cross-Origin-Opener-Policy", "same-origin"},
                    {"Cross-Origin-Resource-Policy", "same-origin"}};
  return answer;
}

HttpAnswer refuse(int status, std::string_view code, std::string_view message) {
  return {status,
          "application/json",
          to_text(json::object{{"protocol", 1},
                               {"error", json::object{{"code", code}, {"message", message}}}}),
          {}};
}

const Asset* asset_at(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const auto* const found = std::find_if(kAssets.begin(), kAssets.end(),
                                         [&](const Asset& one) { return one.path == path; });
  return found == kAssets.end() ? nullptr : found;
}

bool may_look(std::string_view command) {
  return std::find(kLooks.begin(), kLooks.end(), command) != kLooks.end();
}

}  // namespace

bool WebPage::is_open(std::string_view target) {
  return asset_at(target) != nullptr;
}

HttpAnswer WebPage::answer(const HttpCall& call) const {
  if (const Asset* asset = asset_at(call.target)) {
    if (call.method != "GET") return with_headers(refuse(405, "bad_method", "GET it"));
    return with_headers({200, std::string(asset->type), std::string(asset->text()), {}});
  }
  constexpr std::string_view kApi = "/api/";
  if (!call.target.starts_with(kApi)) {
    return with_headers(refuse(404, "not_found", "there is no such path"));
  }
  return with_headers(api(call, std::string_view(call.target).substr(kApi.size())));
}

HttpAnswer WebPage::api(const HttpCall& call, std::string_view command) const {
  if (command == "status") {
    return call.method == "GET" ? forward("GET", "/v1/status", {})
                                : refuse(405, "bad_method", "GET it");
  }
  const bool known = may_look(command) || command == "forget" || command == "parked_retry";
  if (!known) return refuse(404, "not_found", "the page may not ask this");
  if (call.method != "POST") return refuse(405, "bad_method", "POST it");
  const auto json_type = std::find_if(call.headers.begin(), call.headers.end(), [](const auto& h) {
    return h.first == "content-type" && h.second.starts_with("application/json");
  });
  if (json_type == call.headers.end()) return refuse(415, "bad_type", "send application/json");
  auto body = parse_json(call.body);
  if (!body.ok() || !body->is_object()) return refuse(400, "invalid", "the body is no JSON object");
  const auto* given = find_object(body->get_object(), "params");
  json::object params = given == nullptr ? json::object{} : *given;
  if (command == "forget") return forget(std::move(params));
  if (command == "parked_retry" && get_int(params, "event") <= 0) {
    return refuse(400, "invalid", "say which: event is missing");
  }
  return forward("POST", "/v1/admin/" + std::string(command), std::move(params));
}

// What is forgotten is what was shown: the code of the preview has to be that of a preview now.
HttpAnswer WebPage::forget(json::object params) const {
  params.erase("purge");
  const std::string confirm = get_string(params, "confirm");
  params["preview"] = true;
  HttpAnswer preview = forward("POST", "/v1/admin/forget", params);
  if (confirm.empty() || preview.status != 200) return preview;
  const auto parsed = parse_json(preview.body);
  const auto* details =
      parsed.ok() && parsed->is_object() ? find_object(parsed->get_object(), "details") : nullptr;
  if (details == nullptr || get_string(*details, "confirm") != confirm) {
    return refuse(409, "conflict", "what would be forgotten has changed; look again");
  }
  params.erase("preview");
  return forward("POST", "/v1/admin/forget", std::move(params));
}

HttpAnswer WebPage::forward(std::string_view method, std::string_view target,
                            json::object params) const {
  for (const auto& eye : eyes_) params[eye.key()] = eye.value();
  const std::string body =
      method == "GET" ? std::string() : to_text(json::object{{"params", std::move(params)}});
  auto answer = ask_({std::string(method), std::string(target), {}, body});
  if (answer.ok()) return std::move(answer).value();
  return refuse(503, "unavailable", answer.error().message);
}

}  // namespace clawmark
