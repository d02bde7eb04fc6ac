#pragma once

/// @file
/// Options turned into what the layers below take.

#include <string>
#include <vector>

#include "modes/mode.hpp"
#include "src/cli/options.hpp"

namespace steelyard::cli {

/// What all trials of a run share.
struct RunSettings {
  ModelSpec model;
  DatasetRequest data;
  std::string wait;
  std::string instructions;
  std::string device;
  std::string results;
  std::string name;  ///< Of the run directory; empty: made from date and roles.
  bool trace = true;
  double flush_seconds = 5.0;
  std::string json;
  double trial_seconds = 0.0;  ///< compare: of trials without a number of steps.
  bool dry_run = false;
  bool progress_always = false;
  bool progress_never = false;
};

/// A trial as asked for. Batch and steps may depend on the number of workers and of samples.
struct TrialRequest {
  TrialConfig config;
  std::size_t batch_per_worker = 0;  ///< 0: config.global_batch counts.
  Step epochs = 0;                   ///< 0: config.steps counts; if that is 0 too, --trial-seconds does.
  bool evaluate_epochs = false;
  Step warmup = 0;
};

Expected<RunSettings> run_settings(const Options& options);

/// Checks what can be checked without knowing ranks and data.
Expected<TrialRequest> trial_request(const Options& options);

/// Fills in what depends on the launch and the data, and checks the whole.
/// @return steps are 0 where time decides them.
Expected<TrialConfig> finish_config(const TrialRequest& request, const ModelSpec& model, std::size_t samples,
                                    const mpi::Topology& topology);

/// Steps of a trial that its timings leave out.
Step warmup_of(const TrialRequest& request, const TrialConfig& config);

}  // namespace steelyard::cli
