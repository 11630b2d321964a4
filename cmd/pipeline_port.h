#pragma once
// What serving asks of the writer, answered by the pipeline.

#include <atomic>
#include <functional>

#include "serve/writer_port.h"
#include "workers/pipeline.h"

namespace clawmark {

class PipelinePort final : public WriterPort {
 public:
  // `call` asks an endpoint and waits; used only while the pipeline has no threads.
  PipelinePort(Pipeline& pipeline, const Clock& clock,
               std::function<Result<HttpResponse>(const HttpRequest&)> call)
      : pipeline_(pipeline), clock_(clock), call_(std::move(call)) {}

  Status submit(std::vector<NewEvent> events) override;
  Result<ReconcileAnswer> reconcile(bool drain, std::int64_t wait_ms) override;
  std::vector<WorkerState> workers() override;
  void notify(const Caller& caller, std::string_view kind) override;
  Result<json::object> run(std::string_view command, const json::object& params) override;
  json::object describe() override;
  // A long command of a user holds the writer: it is busy, not stuck.
  bool is_busy() const { return busy_ > 0; }

 private:
  Result<DrainReport> drain_here(std::int64_t wait_ms);
  Result<json::object> rebuild_all(const std::string& only);
  Result<json::object> verify_all(bool mend);
  Result<json::object> retry_parked(const json::object& params);
  Result<json::object> purge_all();
  Result<json::object> estimate();

  Pipeline& pipeline_;
  const Clock& clock_;
  std::atomic<int> busy_{0};
  std::function<Result<HttpResponse>(const HttpRequest&)> call_;
};

}  // namespace clawmark
