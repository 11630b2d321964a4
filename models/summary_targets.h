#pragma once
// The endpoint kinds of the world model, asked for summaries of another length than usual.

#include <cstddef>
#include <memory>

#include "models/graph.h"
#include "models/summary.h"

namespace clawmark {

std::unique_ptr<GraphExtractor> make_endpoint_graph_extractor(const EndpointOptions& options,
                                                              std::size_t prose_tokens);
std::unique_ptr<Summarizer> make_endpoint_summarizer(const EndpointOptions& options,
                                                     std::size_t target_tokens);

}  // namespace clawmark
