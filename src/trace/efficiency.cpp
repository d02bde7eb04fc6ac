#include <algorithm>

#include "src/trace/measured.hpp"
#include "src/trace/metrics.hpp"

namespace steelyard::trace {
namespace {

/// What the workers computed in the measured steps, and how long the slowest of them took.
struct Work {
  std::vector<double> useful_ns;
  double time_ns = 0.0;
};

Work work_of(const TrialData& trial) {
  const auto workers = ranks_with(trial, "worker");
  const Window window = window_of(trial, workers);
  Work work;
  for (const RankTrial* worker : workers) {
    double useful = 0.0;
    double total = 0.0;
    for (const StepRow& row : worker->steps) {
      if (!window.holds(row.step)) continue;
      useful += compute_ns(row);
      total += step_ns(row);
    }
    work.useful_ns.push_back(useful);
    work.time_ns = std::max(work.time_ns, total);
  }
  return work;
}

/// Server windows cover the warm-up too, so their share of the trial is scaled to the measured steps.
std::vector<double> applied_ns(const TrialData& trial, double measured_share) {
  std::vector<double> useful;
  for (const RankTrial* server : ranks_with(trial, "server")) {
    double apply = 0.0;
    for (const LoadRow& row : server->loads) apply += static_cast<double>(row.apply_ns);
    useful.push_back(apply * measured_share);
  }
  return useful;
}

}  // namespace

Pop pop(std::span<const double> useful, double time) {
  if (useful.empty() || time <= 0.0) return {};
  const double greatest = *std::ranges::max_element(useful);
  if (greatest <= 0.0) return {1.0, 0.0, 0.0};
  return {mean_of(useful) / greatest, greatest / time, mean_of(useful) / time};
}

void add_efficiency(const TrialData& trial, TrialSummary& out) {
  const Work work = work_of(trial);
  const double measured =
      out.steps > 0 ? static_cast<double>(out.measured_steps) / static_cast<double>(out.steps) : 0.0;
  const std::vector<double> servers = applied_ns(trial, measured);
  out.worker_busy = imbalance(work.useful_ns);
  out.worker_pop = pop(work.useful_ns, work.time_ns);
  if (!servers.empty()) out.server_pop = pop(servers, work.time_ns);
  std::vector<double> all = work.useful_ns;
  all.insert(all.end(), servers.begin(), servers.end());
  out.pop = pop(all, work.time_ns);
}

}  // namespace steelyard::trace
