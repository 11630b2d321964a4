#pragma once
// The projection "graph"; what it holds is in projections/graph.h.

#include <memory>

#include "projections/projection.h"

namespace clawmark {

std::unique_ptr<Projection> make_graph_projection();

}  // namespace clawmark
