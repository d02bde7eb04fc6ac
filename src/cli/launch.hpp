#pragma once

/// @file
/// What lives as long as the launch: communicators, topology, and the way errors end it.

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "src/cli/validity.hpp"
#include "src/mpi/communicator.hpp"
#include "src/mpi/topology.hpp"
#include "src/mpi/wait.hpp"

namespace steelyard::cli {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kCheckFailed = 3;
inline constexpr int kStopped = 85;  ///< A signal ended the run before it was whole; it may be queued again.

struct Launch {
  mpi::Communicator world;
  mpi::Communicator pushes;
  mpi::Communicator replies;
  mpi::Topology topology;
  mpi::Wait wait = mpi::Wait::spin;
  Validity validity{};
  nlohmann::json lab{};  ///< On rank 0: the lab's record; null outside one.

  /// Collective over all ranks. @param wait has been checked.
  static Launch begin(const std::string& wait);
  bool speaks() const { return world.rank() == 0; }
};

/// One line on stderr.
void print_error(const Error& error);

/// Collective: whether a signal has told some rank to stop.
bool any_told_to_stop(const Launch& launch);

/// Collective: prints the error of the lowest rank that has one, from rank 0. @return whether there is one.
bool any_error(const Launch& launch, const std::optional<Error>& mine);

/// Rank that the launcher gave this process, by the variables of the usual launchers; 0 without one. Only for
/// who prints before MPI is up; everything else asks MPI.
int launcher_rank();
bool under_launcher();

}  // namespace steelyard::cli
