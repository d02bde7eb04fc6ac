#pragma once

/// @file
/// Everything recorded of one trial, brought together on one rank: by gathering, or by reading files.

#include <optional>
#include <string>
#include <vector>

#include "src/mpi/communicator.hpp"
#include "src/trace/recorder.hpp"

namespace steelyard::trace {

struct RankTrial {
  std::string role;  ///< server, worker, idle.
  int role_index = -1;
  std::vector<StepRow> steps;
  std::vector<LoadRow> loads;
  std::vector<StalenessRow> stalenesses;
  std::vector<DropCount> drops{};  ///< Of a server.
  std::vector<ReadRow> reads{};    ///< Of a worker; rows of one step and one waited_for may be summed.
};

struct TrialData {
  TrialRow row{};
  std::vector<RankTrial> ranks;  ///< By world rank.
  std::vector<EvaluationRow> evaluations;
  FinalRow final{};
};

/// Collective over `world`: what every rank recorded in its current trial, on rank 0; empty elsewhere.
std::vector<RankTrial> gather_trial(const mpi::Communicator& world, const Recorder& recorder);

}  // namespace steelyard::trace
