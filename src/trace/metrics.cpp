#include "src/trace/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "src/trace/measured.hpp"

namespace steelyard::trace {
namespace {

constexpr double kMs = 1e6;
constexpr double kSecond = 1e9;

void add_step_times(const std::vector<const RankTrial*>& workers, const Window& window, TrialSummary& out) {
  struct Sum {
    double ns = 0.0;
    double workers = 0.0;
  };
  std::map<std::int64_t, Sum> per_step;
  for (const RankTrial* worker : workers) {
    double time_ns = 0.0;
    double samples = 0.0;
    double bytes = 0.0;
    for (const StepRow& row : worker->steps) {
      if (!window.holds(row.step)) continue;
      const double duration = step_ns(row);
      per_step[row.step].ns += duration;
      ++per_step[row.step].workers;  // With backup workers some skip steps.
      time_ns += duration;
      samples += row.samples;
      bytes += static_cast<double>(row.bytes_in + row.bytes_out);
    }
    if (time_ns <= 0.0) continue;
    out.images_per_s += samples * kSecond / time_ns;
    out.goodput_gb_per_s += bytes / time_ns;
  }
  std::vector<double> steps_ms;
  for (const auto& [step, sum] : per_step) steps_ms.push_back(sum.ns / sum.workers / kMs);
  out.step_ms = estimate_median(steps_ms, 0.95);
}

void add_phases(const std::vector<const RankTrial*>& workers, const Window& window, TrialSummary& out) {
  double rows = 0.0;
  PhaseTimes& p = out.phases_ms;
  for (const RankTrial* worker : workers)
    for (const StepRow& row : worker->steps) {
      if (!window.holds(row.step)) continue;
      ++rows;
      p.data += static_cast<double>(row.data_ns);
      p.forward += static_cast<double>(row.forward_ns);
      p.backward += static_cast<double>(row.backward_ns);
      p.push += static_cast<double>(row.push_ns);
      p.wait += static_cast<double>(row.wait_ns);
      p.update += static_cast<double>(row.update_ns);
    }
  for (double* phase : {&p.data, &p.forward, &p.backward, &p.push, &p.wait, &p.update})
    *phase = rows > 0.0 ? *phase / rows / kMs : 0.0;
}

void add_losses(const std::vector<const RankTrial*>& workers, const Window& window, TrialSummary& out) {
  double loss = 0.0;
  double samples = 0.0;
  for (const RankTrial* worker : workers)
    for (const StepRow& row : worker->steps) {
      out.messages += row.messages;
      if (!std::isfinite(row.loss) && (!out.diverged || row.step < out.diverged_step)) {
        out.diverged = true;
        out.diverged_step = row.step;
        out.diverged_tensor = "the loss";
      }
      if (row.step != window.end - 1) continue;
      loss += static_cast<double>(row.loss) * row.samples;
      samples += row.samples;
    }
  out.loss = samples > 0.0 ? loss / samples : 0.0;
}

/// The workers look at values too. They know it before they leave; a killed one has left its losses alone.
void add_divergence(const FinalRow& final, TrialSummary& out) {
  if (view(final.diverged_tensor).empty()) return;
  out.diverged = true;
  out.diverged_step = final.diverged_step;
  out.diverged_tensor = view(final.diverged_tensor);
}

void add_servers(const TrialData& trial, TrialSummary& out) {
  std::vector<double> bytes;
  std::vector<double> messages;
  std::vector<double> busy;
  for (std::size_t rank = 0; rank < trial.ranks.size(); ++rank) {
    const RankTrial& one = trial.ranks[rank];
    if (one.role != "server") continue;
    ServerLoad load{one.role_index, static_cast<int>(rank)};
    for (const LoadRow& row : one.loads) {
      load.bytes_in += row.bytes_in;
      load.bytes_out += row.bytes_out;
      load.messages += row.messages;
      load.busy_s += static_cast<double>(row.busy_ns) / kSecond;
      load.apply_s += static_cast<double>(row.apply_ns) / kSecond;
      out.pushes += row.pushes;
      out.applied += row.applied;
      out.dropped += row.dropped;
    }
    out.server_load.push_back(load);
  }
  std::ranges::sort(out.server_load, {}, &ServerLoad::server);
  for (const ServerLoad& load : out.server_load) {
    bytes.push_back(static_cast<double>(load.bytes_in + load.bytes_out));
    messages.push_back(static_cast<double>(load.messages));
    busy.push_back(load.busy_s);
  }
  out.server_bytes = imbalance(bytes);
  out.server_messages = imbalance(messages);
  out.server_busy = imbalance(busy);
}

SummaryRow summary_row(std::uint16_t trial, std::string_view metric, const char* role, const Estimate& value,
                       const char* unit) {
  return {trial, text<48>(metric), text<16>(role), value.median, value.low, value.high, text<16>(unit)};
}

SummaryRow plain_row(std::uint16_t trial, std::string_view metric, const char* role, double value,
                     const char* unit) {
  return summary_row(trial, metric, role, {value, value, value}, unit);
}

void add_load_rows(std::uint16_t trial, const std::string& what, const Imbalance& i,
                   std::vector<SummaryRow>& rows) {
  rows.push_back(plain_row(trial, what + "_max_over_mean", "server", i.max_over_mean, "1"));
  rows.push_back(plain_row(trial, what + "_cov", "server", i.cov, "1"));
  rows.push_back(plain_row(trial, what + "_gini", "server", i.gini, "1"));
  rows.push_back(plain_row(trial, what + "_percent_imbalance", "server", i.percent_imbalance, "%"));
}

void add_pop_rows(std::uint16_t trial, const char* role, const Pop& pop, std::vector<SummaryRow>& rows) {
  rows.push_back(plain_row(trial, "load_balance", role, pop.load_balance, "1"));
  rows.push_back(plain_row(trial, "communication_efficiency", role, pop.communication_efficiency, "1"));
  rows.push_back(plain_row(trial, "parallel_efficiency", role, pop.parallel_efficiency, "1"));
}

void add_staleness_rows(std::uint16_t trial, const TrialSummary& s, std::vector<SummaryRow>& rows) {
  const auto add = [&](std::string_view metric, double value, const char* unit) {
    rows.push_back(plain_row(trial, metric, "server", value, unit));
  };
  add("staleness_median", s.staleness.median, "updates");
  add("staleness_p95", s.staleness.p95, "updates");
  add("staleness_max", static_cast<double>(s.staleness.max), "updates");
  add("staleness_mean", s.staleness.mean, "updates");
  add("age_mean", s.staleness.mean_age_ms, "ms");
  add("skew_max", static_cast<double>(s.staleness.max_skew), "versions");
  add("drop_share", s.drops.share, "1");
  for (std::size_t i = 0; i < kDropReasonNames.size(); ++i)
    add("dropped_" + std::string(kDropReasonNames[i]), static_cast<double>(s.drops.by_reason[i]), "pushes");
}

}  // namespace

Imbalance imbalance(std::span<const double> load) {
  const double mean = mean_of(load);
  if (mean <= 0.0) return {};
  const auto n = static_cast<double>(load.size());
  double squares = 0.0;
  for (const double x : load) squares += (x - mean) * (x - mean);
  // With x sorted ascending, sum_ij |x_i - x_j| = 2 sum_i (2 i - n + 1) x_i, i from 0.
  std::vector<double> sorted(load.begin(), load.end());
  std::ranges::sort(sorted);
  double differences = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    differences += (2.0 * static_cast<double>(i) - n + 1.0) * sorted[i];
  Imbalance result;
  result.max_over_mean = sorted.back() / mean;
  result.cov = std::sqrt(squares / n) / mean;
  result.gini = differences / (n * n * mean);
  result.percent_imbalance = (result.max_over_mean - 1.0) * 100.0;
  return result;
}

double algorithm_bandwidth(double bytes, double seconds) { return bytes / seconds; }

double allreduce_bus_bandwidth(double bytes, double seconds, int ranks) {
  return algorithm_bandwidth(bytes, seconds) * 2.0 * (ranks - 1) / ranks;
}

TrialSummary summarise(const TrialData& trial) {
  TrialSummary out;
  const auto workers = ranks_with(trial, "worker");
  const Window window = window_of(trial, workers);
  out.steps = window.end;
  out.measured_steps = window.size();
  add_step_times(workers, window, out);
  add_phases(workers, window, out);
  add_losses(workers, window, out);
  add_divergence(trial.final, out);
  add_servers(trial, out);
  out.staleness = staleness_summary(trial);
  out.drops = drop_summary(trial);
  out.wait = wait_summary(trial);
  out.straggler = find_straggler(trial);
  add_efficiency(trial, out);
  out.accuracy = trial.evaluations.empty() ? std::numeric_limits<double>::quiet_NaN()
                                           : trial.evaluations.back().accuracy;
  out.target = time_to_target(trial);
  out.trace_overhead = trial.final.trace_overhead;
  return out;
}

std::vector<SummaryRow> summary_rows(std::uint16_t trial, const TrialSummary& s) {
  const auto one = [trial](const char* metric, const char* role, double value, const char* unit) {
    return plain_row(trial, metric, role, value, unit);
  };
  std::vector<SummaryRow> rows = {one("throughput", "all", s.images_per_s, "images/s"),
                                  summary_row(trial, "step_time", "worker", s.step_ms, "ms"),
                                  one("data", "worker", s.phases_ms.data, "ms"),
                                  one("forward", "worker", s.phases_ms.forward, "ms"),
                                  one("backward", "worker", s.phases_ms.backward, "ms"),
                                  one("push", "worker", s.phases_ms.push, "ms"),
                                  one("wait", "worker", s.phases_ms.wait, "ms"),
                                  one("update", "worker", s.phases_ms.update, "ms"),
                                  one("wait_share", "worker", s.wait.share, "1"),
                                  one("goodput", "worker", s.goodput_gb_per_s, "GB/s"),
                                  one("compute_max_over_mean", "worker", s.worker_busy.max_over_mean, "1"),
                                  one("trace_overhead", "all", s.trace_overhead, "1")};
  add_pop_rows(trial, "all", s.pop, rows);
  add_pop_rows(trial, "worker", s.worker_pop, rows);
  if (s.server_pop) add_pop_rows(trial, "server", *s.server_pop, rows);
  if (s.target.accuracy > 0.0) rows.push_back(one("time_to_target", "all", s.target.time_s, "s"));
  if (s.server_load.empty()) return rows;
  add_load_rows(trial, "bytes", s.server_bytes, rows);
  add_load_rows(trial, "messages", s.server_messages, rows);
  add_load_rows(trial, "busy", s.server_busy, rows);
  add_staleness_rows(trial, s, rows);
  return rows;
}

}  // namespace steelyard::trace
