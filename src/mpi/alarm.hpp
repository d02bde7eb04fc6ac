#pragma once

/// @file
/// Ranks that make collective calls outside of MPI and no longer come on: each learns where the others stand,
/// and one says who is the matter.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/mpi/communicator.hpp"

namespace steelyard::mpi {

/// Where a rank stands among the calls that all make in the same order. Sent as bytes.
struct Standing {
  Step step = 0;
  std::int64_t call = 0;       ///< Calls begun, so the number of the last one, from 1.
  std::uint64_t elements = 0;  ///< Of that call.
  char name[32] = {};          ///< "allreduce"
  char reason[192] = {};       ///< Why it failed on this rank; "" of one that waits.
  bool is_echo = false;        ///< It failed because another rank has.
};

class Alarm {
 public:
  /// Collective.
  explicit Alarm(const Communicator& ranks) : ranks_(ranks.duplicate()) {}

  Rank rank() const { return ranks_.rank(); }
  /// Whether another rank has told where it stands: it has failed, or waits in vain. Does not block.
  bool raised() const;
  /// Once: tells every other rank where this one stands, and hears where they do for up to `patience_ns`.
  /// @return [ranks] nothing of ranks that did not answer.
  std::vector<std::optional<Standing>> exchange(const Standing& mine, std::int64_t patience_ns) const;

 private:
  Communicator ranks_;
};

/// What is the matter, in one sentence: who failed and why; else who did not answer; else who makes another
/// call than the lowest rank; else that all wait. @param waited_s how long somebody waited.
std::string explain(const std::vector<std::optional<Standing>>& standings, double waited_s);

}  // namespace steelyard::mpi
