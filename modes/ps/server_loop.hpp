#pragma once

#include "modes/ps/plan.hpp"
#include "modes/trial.hpp"

namespace steelyard::ps {

/// Serves as server `index` until every worker has pushed its last step and has its last reply; then sends
/// the final values to worker 0. Collective over session.pushes to begin.
void serve(Session& session, const Plan& plan, int index);

}  // namespace steelyard::ps
