#include <boost/asio/io_context.hpp>
#include <optional>

#include "base/secrets.h"
#include "cmd/doctor_parts.h"
#include "models/model.h"
#include "models/transport.h"

namespace clawmark {
namespace {

constexpr auto ok = check_ok;
constexpr auto bad = check_bad;

// One small request by the transport of the daemon, awaited here.
Result<HttpResponse> send_once(const Config& config, HttpRequest request) {
  boost::asio::io_context io;
  auto transport = make_transport(io, {config.ca_file, config.verify_tls});
  std::optional<Result<HttpResponse>> answer;
  request.timeout_ms = std::min<std::int64_t>(request.timeout_ms, 15'000);
  transport->send(std::move(request),
                  [&](Result<HttpResponse> got) { answer.emplace(std::move(got)); });
  io.run();
  if (!answer) return make_error(ErrorKind::kRetriable, "transport", "closed", "no answer");
  return *std::move(answer);
}

}  // namespace

void check_embedding(const Config& config, std::vector<Check>& out) {
  if (config.embedding_url.empty() && config.encoder_file.empty()) {
    out.push_back(ok("models", "embedding: built in"));
    return;
  }
  if (config.embedding_url.empty()) {
    const auto encoder = make_file_embedder(config.encoder_file);
    out.push_back(
        encoder.ok()
            ? ok("models", "embedding: built in, with " + config.encoder_file)
            : bad("models", "embedding: " + encoder.error().message,
                  "until then nothing is remembered; unset encoder_file to go on without"));
    return;
  }
  auto embedder = make_endpoint_embedder(
      {config.embedding_url, config.embedding_model, config.embedding_api_key, config.embedding_dim,
       config.embed_timeout_ms, config.ca_file, config.verify_tls});
  const std::vector<std::string> texts{"clawmark"};
  const auto answer = embedder->interpret(send_once(config, embedder->plan(texts)), texts.size());
  if (!answer) {
    out.push_back(bad(
        "models", "embedding: " + redact_secrets(describe(answer.error())),
        "check embedding_url, embedding_model and the key; without it recall is by words only"));
  } else {
    out.push_back(ok("models", "embedding: " + config.embedding_model + " answers, " +
                                   std::to_string(embedder->model().dims) + " numbers"));
  }
}

void check_extraction(const Config& config, std::vector<Check>& out) {
  if (config.extract_url.empty()) {
    out.push_back(ok("models", "extraction: built in"));
    return;
  }
  const auto extractor =
      make_endpoint_extractor({config.extract_url, config.extract_model, config.extract_api_key, 0,
                               config.extract_timeout_ms, config.ca_file, config.verify_tls});
  WindowMessage message;
  message.message = 1;
  message.role = "user";
  message.text = "I prefer tea.";
  const std::vector<WindowMessage> window{message};
  const auto answer =
      extractor->interpret(send_once(config, extractor->plan(window, "UTC")), window);
  if (!answer) {
    out.push_back(bad("models", "extraction: " + redact_secrets(describe(answer.error())),
                      "check extract_url, extract_model and the key; facts wait until it answers"));
  } else {
    out.push_back(ok("models", "extraction: " + config.extract_model + " answers"));
  }
}

}  // namespace clawmark
