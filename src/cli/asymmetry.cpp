#include "src/cli/asymmetry.hpp"

#include <algorithm>

namespace steelyard::cli {
namespace {

/// What some contestant of each mode has.
struct Seen {
  bool ps = false, allreduce = false;
  bool messages = false, in_place = false;
  bool replicas = false;  ///< Every worker of an allreduce makes every update.
  bool node_sums = false;
  bool alone = false;  ///< Workers of ps that push alone.
  bool narrow = false;
  bool asynchronous = false;
};

Seen look(const Contest& contest, const std::vector<Talk>& talks) {
  Seen seen;
  for (std::size_t i = 0; i < contest.contestants.size(); ++i) {
    const TrialConfig& config = contest.contestants[i].config;
    const bool ps = config.mode == "ps";
    (ps ? seen.ps : seen.allreduce) = true;
    seen.narrow = seen.narrow || config.wire != "fp32";
    if (ps) {
      seen.messages = seen.messages || talks[i].transport != "shared";
      seen.alone = seen.alone || talks[i].aggregate != "node";
      seen.asynchronous = seen.asynchronous || config.consistency == "asp";
    } else {
      const bool in_place = talks[i].transport == "in_place";
      seen.in_place = seen.in_place || in_place;
      seen.replicas = seen.replicas || (!in_place && !config.sharded_optimizer);
      seen.node_sums = seen.node_sums || config.collective == "shared" || config.collective == "auto";
    }
  }
  return seen;
}

}  // namespace

std::vector<std::string> asymmetries(const Contest& contest, const std::vector<Talk>& talks,
                                     const mpi::Topology& topology) {
  const Seen seen = look(contest, talks);
  std::vector<std::string> all;
  if (!seen.ps || !seen.allreduce) return all;
  if (topology.nodes == 1 && seen.messages && seen.in_place)
    all.emplace_back("ps sends messages where allreduce reads shared memory (--transport shared)");
  if (seen.replicas)
    all.emplace_back(
        "every worker of the allreduce makes the whole update, servers make it once (--sharded-optimizer)");
  if (topology.nodes > 1 && topology.ranks() > topology.nodes && seen.node_sums && seen.alone)
    all.emplace_back(
        "allreduce may sum within a node before it uses the network, workers of ps push alone (--aggregate "
        "node)");
  if (seen.narrow)
    all.emplace_back(
        "what servers send back are values in fp32, an allreduce moves 16 bits both ways (--wire fp32)");
  if (seen.asynchronous)
    all.emplace_back("asp updates with every push: equal images/s are not equal progress");
  return all;
}

}  // namespace steelyard::cli
