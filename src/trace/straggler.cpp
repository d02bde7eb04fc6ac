#include "src/trace/straggler.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "src/trace/measured.hpp"
#include "src/trace/statistics.hpp"

namespace steelyard::trace {
namespace {

constexpr double kSlow = 1.1;
constexpr double kMostWaitedFor = 1.5;
constexpr std::int64_t kWindowSteps = 50;
constexpr std::size_t kStepsNamed = 5;

/// [window, worker] ns; sparse, since neither number is trusted.
using ByWindow = std::map<std::pair<std::int64_t, std::size_t>, double>;

/// What speaks for or against a worker.
struct Evidence {
  std::vector<const RankTrial*> workers;
  Window measured{0, 0};
  std::int64_t window_steps = 1;
  std::vector<double> median_ns, mean_ns;  ///< [workers] compute of a step.
  std::vector<double> waited_ns;           ///< [workers] all waiting that was for it.
  double waiting_ns = 0.0;                 ///< All waiting of /reads.
  ByWindow compute, waited;                ///< In `waited` the worker after the last is nobody.

  std::int64_t window(std::int64_t step) const { return (step - measured.begin) / window_steps; }
  double share_for(std::size_t worker) const { return waiting_ns > 0 ? waited_ns[worker] / waiting_ns : 0; }
  double most_waited_for() const { return kMostWaitedFor / static_cast<double>(workers.size()); }
};

void take_steps(Evidence& all, std::size_t worker) {
  std::vector<double> compute;
  for (const StepRow& row : all.workers[worker]->steps) {
    if (!all.measured.holds(row.step)) continue;
    compute.push_back(compute_ns(row));
    all.compute[{all.window(row.step), worker}] += compute.back();
  }
  all.median_ns.push_back(compute.empty() ? 0.0 : median(compute));
  all.mean_ns.push_back(mean_of(compute));
}

void take_reads(Evidence& all, std::size_t reader) {
  for (const ReadRow& row : all.workers[reader]->reads) {
    if (!all.measured.holds(row.step) || row.wait_ns <= 0) continue;
    const auto wait = static_cast<double>(row.wait_ns);
    const std::size_t nobody = all.workers.size();
    const std::size_t whom = row.waited_for < 0 ? nobody : static_cast<std::size_t>(row.waited_for);
    all.waiting_ns += wait;
    if (whom < nobody) all.waited_ns[whom] += wait;
    all.waited[{all.window(row.step), std::min(whom, nobody)}] += wait;
  }
}

Evidence evidence(const TrialData& trial) {
  Evidence all;
  all.workers = ranks_with(trial, "worker");
  all.measured = window_of(trial, all.workers);
  all.window_steps = std::clamp<std::int64_t>(all.measured.size() / 10, 1, kWindowSteps);
  all.waited_ns.resize(all.workers.size());
  for (std::size_t i = 0; i < all.workers.size(); ++i) {
    take_steps(all, i);
    take_reads(all, i);
  }
  return all;
}

/// Median of all values but one.
double median_of_others(std::vector<double> values, std::size_t one) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(one));
  return values.empty() ? 0.0 : median(values);
}

/// How many times as much as the others the worker has; 1 where they have nothing.
double ratio_of(const std::vector<double>& values, std::size_t worker) {
  const double others = median_of_others(values, worker);
  return others > 0.0 ? values[worker] / others : 1.0;
}

std::size_t greatest(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

/// Counts the windows in which `leads` says so of the values there and the worker's place among them.
template <typename Leads>
std::int64_t windows_led(const ByWindow& sums, std::size_t worker, Leads leads) {
  std::int64_t led = 0;
  for (auto next = sums.begin(); next != sums.end();) {
    const std::int64_t window = next->first.first;
    std::vector<double> values;
    std::vector<std::size_t> who;
    for (; next != sums.end() && next->first.first == window; ++next) {
      values.push_back(next->second);
      who.push_back(next->first.second);
    }
    const auto place = static_cast<std::size_t>(std::ranges::find(who, worker) - who.begin());
    if (place < who.size() && leads(values, place)) ++led;
  }
  return led;
}

std::int64_t windows_led_by(const Evidence& all, std::size_t worker, StragglerReason reason) {
  if (reason == StragglerReason::compute)
    return windows_led(all.compute, worker, [](const auto& values, std::size_t place) {
      return greatest(values) == place && ratio_of(values, place) > kSlow;
    });
  return windows_led(all.waited, worker, [&](const auto& values, std::size_t place) {
    const double sum = mean_of(values) * static_cast<double>(values.size());
    return values[place] > all.most_waited_for() * sum;
  });
}

/// By step: what the worker computed beyond its median, or what was waited for it.
std::map<std::int64_t, double> burden(const Evidence& all, std::size_t worker, StragglerReason reason) {
  std::map<std::int64_t, double> steps;
  if (reason == StragglerReason::compute) {
    for (const StepRow& row : all.workers[worker]->steps)
      if (all.measured.holds(row.step))
        steps[row.step] += std::max(0.0, compute_ns(row) - all.median_ns[worker]);
    return steps;
  }
  for (const RankTrial* reader : all.workers)
    for (const ReadRow& row : reader->reads)
      if (all.measured.holds(row.step) && row.waited_for == static_cast<std::int32_t>(worker))
        steps[row.step] += static_cast<double>(row.wait_ns);
  return steps;
}

std::vector<std::int64_t> heaviest(const std::map<std::int64_t, double>& burden_of) {
  std::vector<std::pair<double, std::int64_t>> order;
  double left = 0.0;
  for (const auto& [step, ns] : burden_of) {
    order.emplace_back(-ns, step);
    left += ns / 2.0;
  }
  std::ranges::sort(order);
  std::vector<std::int64_t> steps;
  for (const auto& [minus_ns, step] : order) {
    if (left <= 0.0 || steps.size() == kStepsNamed) break;
    steps.push_back(step);
    left += minus_ns;
  }
  std::ranges::sort(steps);
  return steps;
}

/// Of the one most waited for.
StragglerReason reason_for(const Evidence& all, const WaitSummary& wait, std::size_t worker) {
  const bool waits_more = wait.by_worker[worker] > median_of_others(wait.by_worker, worker);
  return waits_more || ratio_of(all.mean_ns, worker) <= 1.0 ? StragglerReason::wait
                                                            : StragglerReason::compute;
}

struct Suspect {
  std::size_t worker;
  StragglerReason reason;
};
std::optional<Suspect> suspect(const Evidence& all, const WaitSummary& wait) {
  const std::size_t slow = greatest(all.median_ns);
  if (ratio_of(all.median_ns, slow) > kSlow) return Suspect{slow, StragglerReason::compute};
  if (all.waiting_ns <= 0.0) {
    const std::size_t slow_at_times = greatest(all.mean_ns);
    if (ratio_of(all.mean_ns, slow_at_times) > kSlow) return Suspect{slow_at_times, StragglerReason::compute};
    return std::nullopt;
  }
  const std::size_t most = greatest(all.waited_ns);
  if (all.share_for(most) <= all.most_waited_for()) return std::nullopt;
  return Suspect{most, reason_for(all, wait, most)};
}

}  // namespace

WaitSummary wait_summary(const TrialData& trial) {
  const Evidence all = evidence(trial);
  WaitSummary out;
  double waiting = 0.0;
  double time = 0.0;
  for (const RankTrial* worker : all.workers) {
    double own_waiting = 0.0;
    double own_time = 0.0;
    for (const StepRow& row : worker->steps) {
      if (!all.measured.holds(row.step)) continue;
      own_waiting += static_cast<double>(row.wait_ns);
      own_time += step_ns(row);
    }
    out.by_worker.push_back(own_time > 0.0 ? own_waiting / own_time : 0.0);
    waiting += own_waiting;
    time += own_time;
  }
  out.share = time > 0.0 ? waiting / time : 0.0;
  for (std::size_t i = 0; all.waiting_ns > 0.0 && i < all.workers.size(); ++i)
    out.waited_for.push_back(all.share_for(i));
  return out;
}

std::optional<Straggler> find_straggler(const TrialData& trial) {
  const Evidence all = evidence(trial);
  if (all.workers.size() < 2 || all.measured.size() == 0) return std::nullopt;
  const WaitSummary wait = wait_summary(trial);
  const auto found = suspect(all, wait);
  if (!found) return std::nullopt;
  const auto [worker, reason] = *found;
  Straggler out;
  out.worker = static_cast<int>(worker);
  out.rank = static_cast<int>(all.workers[worker] - trial.ranks.data());
  out.reason = reason;
  const double by_medians = ratio_of(all.median_ns, worker);
  out.compute_ratio = by_medians > kSlow ? by_medians : ratio_of(all.mean_ns, worker);
  out.wait_share = wait.by_worker[worker];
  out.waited_for = all.share_for(worker);
  out.window_steps = all.window_steps;
  out.windows = (all.measured.size() + all.window_steps - 1) / all.window_steps;
  out.windows_led = windows_led_by(all, worker, reason);
  out.chronic = 2 * out.windows_led >= out.windows;
  if (!out.chronic) out.steps = heaviest(burden(all, worker, reason));
  return out;
}

}  // namespace steelyard::trace
