#pragma once

/// @file
/// `--transport`: which servers and workers talk through memory that they share. Pure: every rank computes
/// the same answer.

#include <string>
#include <vector>

#include "modes/ps/plan.hpp"
#include "modes/trial.hpp"
#include "src/mpi/topology.hpp"

namespace steelyard::ps {

struct Transport {
  std::vector<bool> shared;  ///< [nodes] whether the servers and workers of a node share memory.
  /// Workers read values where their node's servers keep them. Else every worker has values of its own, into
  /// which servers write.
  bool in_place = false;
  std::string name;  ///< shared, message, or mixed, as the servers and workers of this trial talk.
  std::string note;  ///< Why `auto` does not share where it could; empty if it does.
};

/// Who of a node takes part.
struct NodeRoles {
  std::vector<int> servers;  ///< Numbers of servers, not ranks.
  std::vector<int> workers;
};
NodeRoles roles_on_node(const Roles& roles, const mpi::Topology& topology, int node);

/// What `--transport` asks for, or what is wrong: an unknown word, or `shared` where ranks do not share
/// memory or have too little of it.
/// @param all_together an update needs every worker's push.
Expected<Transport> choose_transport(const TrialConfig& config, const Plan& plan, const Roles& roles,
                                     const mpi::Topology& topology, bool all_together);

std::string transport_help();

}  // namespace steelyard::ps
