#pragma once

/// @file
/// Reads a run directory back, also one whose job was killed. Files are data and are never trusted; nothing
/// is changed in them.

#include <string>
#include <vector>

#include "src/base/expected.hpp"
#include "src/trace/run_file.hpp"
#include "src/trace/trial_data.hpp"

namespace steelyard::trace {

struct RunData {
  std::string directory;
  RunTables tables;
  bool complete = false;              ///< `done` is there: nothing was left out.
  std::vector<std::string> unclosed;  ///< Rank files whose writer did not end in order.
  std::vector<std::string> missing;   ///< Rank files that are not there or cannot be read.
  std::vector<TrialData> trials;
};

/// What run.h5 alone tells. @param directory a run directory: holds run.h5.
Expected<RunTables> read_run_tables(const std::string& directory);

/// Of that what collect needs, which costs little however large the model is.
struct RunSummary {
  std::string directory;
  RunTables tables;  ///< Without inventory and placement.
  bool complete = false;
};

/// @param directory as above.
Expected<RunSummary> read_summary(const std::string& directory);
/// @param directory as above.
Expected<RunData> read_run(const std::string& directory);

}  // namespace steelyard::trace
