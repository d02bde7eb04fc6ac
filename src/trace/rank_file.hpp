#pragma once

/// @file
/// The HDF5 file of one rank, written by that rank alone while it trains (single writer, multiple readers): a
/// rank killed at any moment leaves a file that opens and holds everything up to the last flush.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "src/base/expected.hpp"
#include "src/mpi/clock_offset.hpp"
#include "src/trace/hdf5.hpp"

namespace steelyard::trace {

/// What a rank file says of its rank; attributes of "/".
struct RankInfo {
  std::string run_id;
  int rank = 0;
  std::string role;     ///< server, worker; varies where trials differ.
  int role_index = -1;  ///< -1 where it varies.
  std::string host;
  int node = 0;
  int local_rank = 0;
  std::string device = "cpu";
  std::string backend = "mpi";
  std::string validity;
  std::int64_t epoch_unix_ns = 0;
  mpi::ClockOffset offset;
  int trials = 1;
};

class RankFile {
 public:
  /// Refuses a file that is there already.
  static Expected<std::unique_ptr<RankFile>> create(const std::string& path, const RankInfo& info);

  template <typename Row>
  void append(const Row* rows, std::size_t count) {
    append(table<Row>(), rows, count);
  }
  /// Hands everything appended so far to the operating system.
  void flush();
  /// Ends the file in order; `at_end` is the clock offset measured again.
  void close(const mpi::ClockOffset& at_end);

 private:
  explicit RankFile(std::string path) : path_(std::move(path)) {}
  void append(const Table& table, const void* rows, std::size_t count);

  std::string path_;
  Handle file_;
  std::vector<Handle> datasets_;  ///< As rank_tables().
};

}  // namespace steelyard::trace
