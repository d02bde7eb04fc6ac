#pragma once

/// @file
/// `run.h5`: what rank 0 knows of the whole run, and the rank files' tables joined as virtual datasets.

#include <string>
#include <vector>

#include "src/trace/metrics.hpp"
#include "src/trace/rows.hpp"

namespace steelyard::trace {

struct RunTables {
  std::string run_id;
  std::string command;
  std::string model;
  std::string data;
  std::string manifest;  ///< JSON
  std::string validity;  ///< Conditions that limit what timings can tell, comma separated.
  int ranks = 0;
  int exit_status = -1;  ///< -1 while the run goes on, and after a kill.
  std::vector<TrialRow> trials;
  std::vector<RoleRow> roles;
  std::vector<TensorRow> inventory;
  std::vector<PlacementRow> placement;
  std::vector<EvaluationRow> evaluation;
  std::vector<FinalRow> final;
  std::vector<SummaryRow> summary;
};

/// Path of a rank's file below the run directory.
std::string rank_file_name(int rank);

/// Writes `directory`/run.h5 anew: beside the old one, then moved over it, so that there is a whole one at
/// any time. @param join whether the rank files are complete and are joined.
void write_run_file(const std::string& directory, const RunTables& tables, bool join);

}  // namespace steelyard::trace
