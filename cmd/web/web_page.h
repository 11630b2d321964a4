#pragma once
// What `clawmark web` answers: the page's own files, and what the page may ask of the memory. Read
// only but for two things, each of which a person has seen and confirmed: forgetting, and trying
// again what was set aside.

#include <functional>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "serve/http_server.h"

namespace clawmark {

class WebPage {
 public:
  // Asks the interface (docs/api.md); its errors are those of a memory that cannot be reached.
  using Ask = std::function<Result<HttpAnswer>(const HttpCall&)>;
  // `eyes`: agent and as, added to every question, whatever the page says.
  WebPage(Ask ask, json::object eyes) : ask_(std::move(ask)), eyes_(std::move(eyes)) {}

  // Several at once.
  HttpAnswer answer(const HttpCall& call) const;
  // The page's own files: the same for everybody, and nothing of anybody.
  static bool is_open(std::string_view target);

 private:
  HttpAnswer api(const HttpCall& call, std::string_view command) const;
  HttpAnswer forget(json::object params) const;
  HttpAnswer forward(std::string_view method, std::string_view target, json::object params) const;

  const Ask ask_;
  const json::object eyes_;
};

}  // namespace clawmark
