#pragma once

/// @file
/// Runs trials one after the other on the ranks of a launch, recording them into one run directory.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/base/cores.hpp"
#include "src/cli/console.hpp"
#include "src/cli/launch.hpp"
#include "src/cli/run_directory.hpp"
#include "src/cli/settings.hpp"
#include "src/trace/metrics.hpp"

namespace steelyard::cli {

/// What to run and how the trace calls it.
struct PlannedTrial {
  TrialConfig config;
  std::string label;
  Step warmup = 0;
  int repeat = 0;
  int order = 0;
  bool confirmation = false;
};

struct TrialResult {
  trace::TrialData data;
  trace::TrialSummary summary;
  nlohmann::json collective_choices;  ///< Of auto, as docs/json.md has them; else an empty list.
  std::int64_t drops_heard = 0;       ///< Pushes that replies told workers were dropped.
  bool stopped = false;               ///< A signal ended the trial; on every rank.
  std::int64_t bucket_rebuilds = 0;   ///< How often allreduce made other buckets than foreseen: 0 or 1.
};

class TrialRunner {
 public:
  /// Collective: makes the run directory and opens every rank's trace. @return nothing where that failed; the
  /// error has been printed.
  static std::unique_ptr<TrialRunner> begin(const Launch& launch, const RunSettings& settings,
                                            const Options& options, const Dataset& dataset,
                                            const std::vector<PlannedTrial>& planned, nlohmann::json manifest,
                                            const std::string& run_id);

  /// Collective. @return on rank 0 the result, elsewhere an empty one but for `stopped`.
  TrialResult run(const PlannedTrial& trial, Progress& progress, double share_before, double share);

  /// Collective: leaves out the next trial of the plan.
  void skip() { ++next_; }

  /// On rank 0, before finish: comparison.json.
  void keep_comparison(const nlohmann::json& outcome) const { directory_->write_comparison(outcome); }

  /// Collective: ends the traces, completes run.h5, writes summary.csv and, unless the run was stopped,
  /// `done`.
  void finish(int exit_status);

  const std::string& directory() const { return directory_ ? directory_->path() : no_directory_; }
  const trace::RunTables& tables() const { return tables_; }

 private:
  TrialRunner(const Launch& launch, const RunSettings& settings, const Dataset& dataset);
  std::optional<Error> open(const Options& options, const std::vector<PlannedTrial>& planned,
                            nlohmann::json manifest, const std::string& run_id);
  std::optional<Error> open_rank_file(const std::vector<PlannedTrial>& planned);
  void record_plan(std::uint16_t id, const PlannedTrial& trial, std::vector<trace::RoleRow>& roles);
  trace::TrialRow trial_row(std::uint16_t id, const PlannedTrial& trial) const;
  void collect(Session& session, trace::TrialRow row, TrialResult& result);
  /// Collective: busy share of the busiest machine's cores.
  double busiest(const CoreTimes& before, const CoreTimes& after) const;
  std::vector<trace::EvaluationRow> collect_evaluations(Session& session) const;

  const Launch& launch_;
  const RunSettings& settings_;
  const Dataset& dataset_;
  trace::Recorder recorder_;
  std::optional<RunDirectory> directory_;  ///< On rank 0.
  std::string no_directory_;
  std::string path_;  ///< Of the run directory, on every rank.
  nlohmann::json manifest_;
  trace::RunTables tables_;  ///< On rank 0; the run id everywhere.
  std::vector<std::string> summary_lines_;
  std::uint16_t next_ = 0;
};

/// Roles of this launch's ranks in a trial.
Roles roles_of(const TrialConfig& config, const mpi::Topology& topology);

}  // namespace steelyard::cli
