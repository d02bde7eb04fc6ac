#include "modes/divergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "modes/mode.hpp"
#include "modes/stopping.hpp"

namespace steelyard {
namespace {

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// The first tensor, in creation order, with a value that is not finite; nothing if there is none.
std::optional<std::string> broken_tensor(Parameters& parameters) {
  for (TensorId id = 0; id < parameters.inventory().size(); ++id)
    if (!all_finite(parameters.host_values(id))) return parameters.inventory()[id].name;
  return std::nullopt;
}

}  // namespace

bool DivergenceWatch::stops(Step step, float loss) {
  const TrialConfig& config = session_.config;
  if (session_.model.replay) return false;
  const auto last_tensor = static_cast<TensorId>(session_.model.inventory.size() - 1);
  const bool broken_values = !all_finite(worker_.parameters.host_values(last_tensor));
  if (!broken_values && std::isfinite(loss)) return false;
  if (!session_.divergence)
    session_.divergence = Divergence{step, broken_tensor(worker_.parameters).value_or(kTheLoss)};
  // Where all are to stop together, what this worker alone has seen must not count.
  return broken_values || !workers_in_step(config);
}

void check_final_values(Session& session, Worker& worker, Step completed) {
  if (session.model.replay || session.divergence) return;
  if (auto tensor = broken_tensor(worker.parameters))
    session.divergence = Divergence{completed, *std::move(tensor)};
}

std::optional<Divergence> earliest(const mpi::Communicator& ranks, const std::optional<Divergence>& mine) {
  constexpr Step kNever = std::numeric_limits<Step>::max();
  const Step my_step = mine ? mine->step : kNever;
  const Step step = -mpi::greatest(ranks, -my_step);
  if (step == kNever) return std::nullopt;
  const std::int64_t who = my_step == step ? ranks.rank() : ranks.size();
  const auto first = static_cast<Rank>(-mpi::greatest(ranks, -who));
  return Divergence{step, mpi::broadcast(ranks, mine ? mine->tensor : "", first)};
}

}  // namespace steelyard
