#pragma once

/// @file
/// What of a run is handed over, and where its files are.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "src/cli/options.hpp"
#include "src/trace/rank_reader.hpp"
#include "src/trace/run_file.hpp"

namespace steelyard::cli {

/// Rows of one trial, or of all, and of some steps.
struct Selection {
  int trial = -1;  ///< -1: all.
  std::int64_t begin = 0;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();

  bool holds(std::uint16_t of_trial) const { return trial < 0 || of_trial == trial; }
  bool holds(std::uint16_t of_trial, std::int64_t step) const {
    return holds(of_trial) && begin <= step && step < end;
  }
};

/// `--trial` and `--steps A:B`: the steps from A on, before B, as a range of Python; either may be left out.
Expected<Selection> selection_of(const Options& options, const trace::RunTables& tables);

/// A run to be handed over; its files are read when they are needed.
struct ExportedRun {
  std::string directory;
  trace::RunTables tables;
  Selection selection;
  std::vector<int> ranks;          ///< That have a file, ascending.
  std::int64_t base_ns = 0;        ///< On rank 0's clock: when the first rank began to record.
  std::int64_t epoch_unix_ns = 0;  ///< Of rank 0's clock; 0 where its file is not there.
};

Expected<ExportedRun> open_exported(const Options& options);
Expected<trace::RankReader> open_rank(const ExportedRun& run, int rank);

/// "worker 2", "server 0", "idle 1" in the trial that is selected; "rank 3" where roles vary over what is.
std::string role_text(const ExportedRun& run, int rank);
/// Name of the tensor that a shard is cut from, in a trial; "" where there is none.
std::string tensor_of(const ExportedRun& run, std::uint16_t trial, std::int32_t shard);

/// Each writes one format. @return an error of exit code 1: something could not be read or written.
Status write_perfetto(const ExportedRun& run, const std::string& path);
Status write_csv(const ExportedRun& run, const std::string& directory);
Status write_otf2(const ExportedRun& run, const std::string& directory);
/// Whether this program was built with the OTF2 library, and if not what to do.
Status otf2_available();

}  // namespace steelyard::cli
