#pragma once

/// @file
/// Where the ranks are: nodes by shared memory (never by environment variables), cores by affinity.

#include <string>
#include <vector>

#include "src/mpi/communicator.hpp"

namespace steelyard::mpi {

/// Bytes of a node's shared memory that windows leave to MPI itself and to others.
inline constexpr std::size_t kSharedMemoryMargin = std::size_t{8} << 20U;

struct Topology {
  int nodes = 1;
  std::vector<int> node_of_rank;           ///< [ranks] 0 .. nodes - 1, in order of each node's lowest rank.
  std::vector<std::string> host_of_rank;   ///< [ranks]
  std::vector<std::string> gpu_of_rank{};  ///< [ranks] "host PCI-address" of the GPU it has taken; or empty.
  std::vector<std::string> cores_of_rank;  ///< [ranks] cores a rank may run on, as "0,1".
  /// [nodes] bytes of shared memory that are free at start, split evenly where nodes share a machine.
  std::vector<std::size_t> shared_memory_of_node;
  int local_rank = 0;  ///< Position among the ranks of this node.
  int local_ranks = 1;
  int local_cores = 1;          ///< Cores that the ranks of this node may use together.
  double local_cpu = 1.0;       ///< Cores that this rank may count on: at most 1, less under a CPU quota.
  int machines = 1;             ///< Kernels: hosts of a lab and containers of a machine are nodes of one.
  bool short_of_cores = false;  ///< Some rank cannot have a core for itself: waiting must not burn one.
  bool oversubscribed = false;  ///< Some machine's ranks may together use more than its cores.

  int ranks() const { return static_cast<int>(node_of_rank.size()); }

  /// Collective over `world`.
  static Topology discover(const Communicator& world);
  /// Collective over `world`. @param bus PCI address of this rank's.
  void note_gpus(const Communicator& world, const std::string& bus);
};

}  // namespace steelyard::mpi
