#include "src/trace/measured.hpp"

#include <limits>
#include <numeric>

namespace steelyard::trace {

std::vector<const RankTrial*> ranks_with(const TrialData& trial, const char* role) {
  std::vector<const RankTrial*> found;
  for (const RankTrial& rank : trial.ranks)
    if (rank.role == role) found.push_back(&rank);
  std::ranges::sort(found, {}, &RankTrial::role_index);
  return found;
}

Window window_of(const TrialData& trial, const std::vector<const RankTrial*>& workers) {
  std::int64_t end = workers.empty() ? 0 : std::numeric_limits<std::int64_t>::max();
  for (const RankTrial* worker : workers)
    end = std::min<std::int64_t>(end, worker->steps.empty() ? 0 : worker->steps.back().step + 1);
  return {trial.row.warmup < end ? trial.row.warmup : 0, end};
}

double compute_ns(const StepRow& row) {
  return static_cast<double>(row.data_ns + row.forward_ns + row.backward_ns + row.update_ns);
}

double step_ns(const StepRow& row) { return static_cast<double>(row.end_ns - row.begin_ns); }

double mean_of(std::span<const double> x) {
  return x.empty() ? 0.0 : std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

}  // namespace steelyard::trace
