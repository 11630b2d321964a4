#pragma once
// HTTP(S) over Asio, behind plain structs. The only place that speaks TLS.

#include <functional>
#include <memory>
#include <string>

#include "models/model.h"

namespace boost::asio {
class io_context;
}

namespace clawmark {

class Transport {
 public:
  virtual ~Transport() = default;
  using Done = std::function<void(Result<HttpResponse>)>;
  // Calls `done` exactly once, on the transport's executor. Errors: retriable, stage "transport",
  // reason "resolve", "connect", "tls", "timeout", "closed", "too_big", "cancelled"; message never
  // holds credentials.
  virtual void send(HttpRequest request, Done done) = 0;
  virtual void cancel_all() = 0;  // every pending send ends with "cancelled" at once
};

struct TransportOptions {
  std::string ca_file;
  bool verify_tls = true;
};

std::unique_ptr<Transport> make_transport(boost::asio::io_context& io,
                                          const TransportOptions& options);

}  // namespace clawmark
