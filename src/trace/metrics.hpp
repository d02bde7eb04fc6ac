#pragma once

/// @file
/// Every figure that Steelyard reports of a trial, with its formula and source; those of staleness and of
/// stragglers have files of their own. Nothing else computes figures.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/trace/staleness.hpp"
#include "src/trace/statistics.hpp"
#include "src/trace/straggler.hpp"
#include "src/trace/trial_data.hpp"

namespace steelyard::trace {

/// How unevenly a load lies on its bearers x_1 .. x_n.
struct Imbalance {
  double max_over_mean = 1.0;      ///< max x / mean x; 1 is even, n is all on one.
  double cov = 0.0;                ///< standard deviation (population) / mean.
  double gini = 0.0;               ///< sum_ij |x_i - x_j| / (2 n^2 mean) (Gini 1912); 0 is even.
  double percent_imbalance = 0.0;  ///< (max / mean - 1) 100 % (DeRose, Homer, Johnson 2007).
};
/// An empty or all-zero load is even.
Imbalance imbalance(std::span<const double> load);

/// The POP Centre of Excellence's multiplicative model (Rosas, Gimenez, Labarta 2014), over some ranks:
/// useful time u_i is what rank i computes, T the time of the measured steps.
struct Pop {
  double load_balance = 1.0;              ///< mean u / max u
  double communication_efficiency = 1.0;  ///< max u / T
  double parallel_efficiency = 1.0;       ///< their product, mean u / T
};
/// Of no ranks, or no time: all 1.
Pop pop(std::span<const double> useful, double time);

/// As nccl-tests defines them: algbw = bytes / time, busbw = algbw 2 (n - 1) / n for an allreduce over n
/// ranks.
double algorithm_bandwidth(double bytes, double seconds);
double allreduce_bus_bandwidth(double bytes, double seconds, int ranks);

struct PhaseTimes {
  double data = 0.0, forward = 0.0, backward = 0.0, push = 0.0, wait = 0.0, update = 0.0;
};

struct ServerLoad {
  int server = 0;
  int rank = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0, messages = 0;
  double busy_s = 0.0, apply_s = 0.0;
};

/// Whether and when a training reached the accuracy asked for.
struct Target {
  double accuracy = 0.0;   ///< 0: none was asked for.
  std::int64_t step = -1;  ///< Steps that the first evaluation with at least this accuracy is of; -1: none.
  /// Seconds from the begin of the first worker's first step until it had all values of that evaluation; NaN:
  /// not reached. Nothing is interpolated between evaluations.
  double time_s = std::numeric_limits<double>::quiet_NaN();

  bool reached() const { return step >= 0; }
};
Target time_to_target(const TrialData& trial);
/// Seconds from the begin of the first worker's first step to a time on its clock; NaN where its steps were
/// not recorded.
double seconds_after_begin(const TrialData& trial, std::int64_t time_ns);

struct TrialSummary {
  double images_per_s = 0.0;      ///< Sum over the workers: own samples of the measured steps / own time.
  Estimate step_ms;               ///< A step's time is the mean over the workers.
  PhaseTimes phases_ms;           ///< Mean over measured steps and workers.
  double goodput_gb_per_s = 0.0;  ///< Payload that the workers send and receive / time, 10^9 bytes.
  double loss = 0.0;              ///< Of the last step: mean over the global batch.
  double accuracy = 0.0;          ///< Of the last evaluation; NaN where there is none.
  std::int64_t steps = 0;         ///< Completed by every worker.
  std::int64_t measured_steps = 0;
  std::uint64_t messages = 0;  ///< Sent and received by the workers.
  std::uint64_t pushes = 0, applied = 0, dropped = 0;
  StalenessSummary staleness;
  DropSummary drops;
  WaitSummary wait;
  std::optional<Straggler> straggler;
  std::vector<ServerLoad> server_load;
  Imbalance server_bytes, server_messages, server_busy;
  Imbalance worker_busy;          ///< Compute time per worker.
  Pop pop;                        ///< Over workers and servers.
  Pop worker_pop;                 ///< Over the workers, of the same time.
  std::optional<Pop> server_pop;  ///< Over the servers, of the same time; nothing where there are none.
  double trace_overhead = 0.0;  ///< Time spent on recording / time of the trial, the greatest over the ranks.
  Target target;
  bool diverged = false;  ///< Some loss is not finite, or some value that a step read, or the last one left.
  std::int64_t diverged_step = -1;
  std::string diverged_tensor;  ///< "the loss" where all values were finite.
};

/// Fills what the workers and servers made of the measured steps: worker_busy and the three Pops. `out.steps`
/// must stand.
void add_efficiency(const TrialData& trial, TrialSummary& out);

/// Steps below trial.row.warmup are left out of every timing; counts are of the whole trial.
TrialSummary summarise(const TrialData& trial);

/// The summary as rows of /summary.
std::vector<SummaryRow> summary_rows(std::uint16_t trial, const TrialSummary& summary);

}  // namespace steelyard::trace
