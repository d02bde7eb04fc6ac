#pragma once

/// @file
/// `--transport` and `--aggregate`: which servers and workers talk through memory that they share, and which
/// workers push as one. Pure: every rank computes the same answer.

#include <string>
#include <vector>

#include "modes/ps/plan.hpp"
#include "modes/trial.hpp"
#include "src/mpi/topology.hpp"

namespace steelyard::ps {

/// How those of one node talk.
struct NodeTransport {
  bool shared = false;  ///< Its servers and workers share memory.
  /// Its workers read values in one place: where its servers keep them, and where replies from elsewhere
  /// land. Else every worker has values of its own.
  bool in_place = false;
  bool sums = false;  ///< Its workers add their gradients and push as one to servers elsewhere.
};

struct Transport {
  std::vector<NodeTransport> nodes;
  std::string name;       ///< shared, message, or mixed, as the servers and workers of this trial talk.
  std::string aggregate;  ///< node if some node sums, else none.
  std::string note;       ///< Why `auto` does not share where it could; empty if it does.
};

/// Who of a node takes part.
struct NodeRoles {
  std::vector<int> servers;  ///< Numbers of servers, not ranks.
  std::vector<int> workers;
};
NodeRoles roles_on_node(const Roles& roles, const mpi::Topology& topology, int node);

/// What `--transport` and `--aggregate` ask for, or what is wrong: an unknown word, `shared` where ranks do
/// not share memory or have too little of it, sums where they cannot be.
/// @param all_together an update needs every worker's push.
Expected<Transport> choose_transport(const TrialConfig& config, const Plan& plan, const Roles& roles,
                                     const mpi::Topology& topology, bool all_together);

/// Who pushes to a server as one: a worker, or the workers of a node that sums. What one pushes comes back to
/// it once.
struct Source {
  std::vector<int> workers;  ///< Ascending.

  /// Who speaks for it; the bundles are shared out in turn.
  int agent(BundleId bundle) const { return workers[bundle % workers.size()]; }
};
/// In the order of their first workers.
std::vector<Source> sources_of(const Transport& transport, const Roles& roles, const mpi::Topology& topology,
                               int server);

std::string transport_help();
std::string aggregate_help();

}  // namespace steelyard::ps
