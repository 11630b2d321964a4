#include "cmd/gate.h"

#include <chrono>

#include "base/json.h"

namespace clawmark {
namespace {

constexpr std::int64_t kGateWaitMs = 10'000;

}  // namespace

HttpAnswer Gate::call(const HttpCall& call) {
  std::shared_ptr<const HttpHandler> handler;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::milliseconds(kGateWaitMs),
                      [this] { return handler_ != nullptr || shut_; });
    if (handler_ == nullptr || shut_) {
      return {503, "application/json",
              to_text(json::object{{"error", json::object{{"code", "reloading"},
                                                          {"message",
                                                           "the service is being set "
                                                           "up; ask again"}}}})};
    }
    handler = handler_;
    ++inside_;
  }
  // Counted out also when the handler throws.
  struct Leave {
    Gate& gate;
    ~Leave() {
      const std::lock_guard lock(gate.mutex_);
      --gate.inside_;
      gate.changed_.notify_all();
    }
  } const leave{*this};
  return (*handler)(call);
}

void Gate::open(HttpHandler handler) {
  const std::lock_guard lock(mutex_);
  handler_ = std::make_shared<const HttpHandler>(std::move(handler));
  changed_.notify_all();
}

void Gate::close() {
  std::unique_lock lock(mutex_);
  handler_.reset();
  changed_.wait(lock, [this] { return inside_ == 0; });
}

void Gate::turn_away() {
  const std::lock_guard lock(mutex_);
  shut_ = true;
  changed_.notify_all();
}

Door::~Door() {
  shut();
}

Status Door::open(const HttpServerOptions& options, HttpHandler handler) {
  if (server_ == nullptr || path_ != options.socket_path) {
    CLAWMARK_ASSIGN(auto server, HttpServer::start(options, [this](const HttpCall& call) {
                      return gate_.call(call);
                    }));
    if (server_ != nullptr) server_->stop();
    server_ = std::move(server);
    path_ = options.socket_path;
  }
  gate_.open(std::move(handler));
  return Ok{};
}

void Door::shut() {
  gate_.turn_away();
  gate_.close();
  if (server_ != nullptr) server_->stop();
  server_.reset();
}

}  // namespace clawmark
