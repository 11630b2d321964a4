// What waits for an endpoint that refuses us is said to be blocked, and by what, so that nobody
// waits for it for ever.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmd/clawmark-sample/sample.h"
#include "cmd/pipeline_port.h"
#include "log/store.h"
#include "models/graph.h"
#include "test_paths.h"
#include "tests/support/store_builder.h"

namespace clawmark {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The sample, with facts by the built-in rules and the world model by an endpoint that answers so.
ReconcileAnswer reconciled(int status) {
  support::TempDir dir;
  ManualClock clock{TimeMs{1'795'262'400'000}};
  SampleOptions sample;
  sample.story_dir = std::string(CLAWMARK_SOURCE_DIR) + "/deploy/sample";
  sample.state_dir = dir / "state";
  EXPECT_TRUE(write_sample(sample).ok());
  StoreOptions where;
  where.path = dir / "clawmark.db";
  Store store = Store::open(where, clock).value();
  PipelineOptions options;
  options.sources.state_dir = sample.state_dir;
  EndpointOptions endpoint;
  endpoint.url = "http://endpoint.test";
  endpoint.model = "some-model";
  PipelineModels models;
  models.extractor = make_builtin_extractor();
  models.graph = make_endpoint_graph_extractor(endpoint);
  models.extract_origin = endpoint.url;
  auto pipeline = Pipeline::make(store, clock, std::move(models), std::move(options)).value();
  PipelinePort port(*pipeline, clock, [&](const HttpRequest&) -> Result<HttpResponse> {
    HttpResponse response;
    response.status = status;
    return response;
  });
  return port.reconcile(true, 10'000).value();
}

TEST(Reconcile, a_refusing_endpoint_is_named_as_what_blocks_and_nothing_else_is_left) {
  const ReconcileAnswer answer = reconciled(401);
  EXPECT_FALSE(answer.done);
  EXPECT_TRUE(answer.stuck);
  ASSERT_EQ(answer.blocked.size(), 1U);
  EXPECT_EQ(answer.blocked[0].worker, "graph");
  EXPECT_THAT(answer.blocked[0].why, HasSubstr("401"));
  EXPECT_GT(answer.remaining.graph, 0);
}

TEST(Reconcile, an_endpoint_that_failed_once_may_answer_yet) {
  const ReconcileAnswer answer = reconciled(503);
  EXPECT_FALSE(answer.done);
  EXPECT_FALSE(answer.stuck);
  EXPECT_THAT(answer.blocked, IsEmpty());
}

}  // namespace
}  // namespace clawmark
