#pragma once

#include "modes/ps/node_memory.hpp"
#include "modes/trial.hpp"

namespace steelyard::ps {

/// Serves until every worker has pushed its last step and has its last reply; then sends the final values to
/// worker 0, unless an update takes every worker's push, so that the last reply brought them. Collective over
/// session.pushes to begin. @param node null where nothing is shared.
void serve(Session& session, const Plan& plan, const Transport& transport, int index, const NodeMemory* node);

}  // namespace steelyard::ps
