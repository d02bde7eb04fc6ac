#include "modes/ps/transport.hpp"

#include <algorithm>
#include <array>

#include "modes/ps/node_memory.hpp"

namespace steelyard::ps {
namespace {

constexpr std::array<std::string_view, 3> kWords = {"auto", "message", "shared"};

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB"; }

/// Pairs of a server and a worker on this node.
std::size_t pairs(const NodeRoles& here) { return here.servers.size() * here.workers.size(); }

std::string name_of(std::size_t shared_pairs, std::size_t all_pairs) {
  return shared_pairs == 0 ? "message" : shared_pairs == all_pairs ? "shared" : "mixed";
}

}  // namespace

NodeRoles roles_on_node(const Roles& roles, const mpi::Topology& topology, int node) {
  NodeRoles here;
  const auto numbers = [&](const std::vector<Rank>& ranks, std::vector<int>& to) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (topology.node_of_rank[static_cast<std::size_t>(ranks[i])] == node)
        to.push_back(static_cast<int>(i));
  };
  numbers(roles.servers, here.servers);
  numbers(roles.workers, here.workers);
  return here;
}

Expected<Transport> choose_transport(const TrialConfig& config, const Plan& plan, const Roles& roles,
                                     const mpi::Topology& topology, bool all_together) {
  const std::string& asked = config.transport;
  if (std::ranges::find(kWords, asked) == kWords.end())
    return Error{"--transport '" + asked + "': choose one of: auto, message, shared"};
  Transport transport;
  transport.shared.assign(static_cast<std::size_t>(topology.nodes), false);
  const std::size_t all_pairs = roles.servers.size() * roles.workers.size();
  std::size_t shared_pairs = 0;
  for (int node = 0; node < topology.nodes && asked != "message"; ++node) {
    const auto place = static_cast<std::size_t>(node);
    const NodeRoles here = roles_on_node(roles, topology, node);
    if (pairs(here) == 0) continue;
    const bool in_place = all_together && pairs(here) == all_pairs;
    const std::size_t needed = NodeMemory::bytes_for(plan, here, in_place) + mpi::kSharedMemoryMargin;
    const std::size_t free = topology.shared_memory_of_node[place];
    if (needed > free) {
      transport.note = "/dev/shm of node " + std::to_string(node) + " has " + mebibytes(free) +
                       " free; sharing takes " + mebibytes(needed);
      continue;
    }
    transport.shared[place] = true;
    transport.in_place = in_place;
    shared_pairs += pairs(here);
  }
  transport.name = name_of(shared_pairs, all_pairs);
  if (asked == "shared" && shared_pairs < all_pairs)
    return Error{"--transport shared: " +
                 (transport.note.empty() ? "servers and workers are on different nodes" : transport.note) +
                 "; say auto or message"};
  return transport;
}

std::string transport_help() {
  return "shared: servers read gradients and workers read values where they lie, in memory of their node\n"
         "message: MPI messages\n"
         "auto: shared within a node where its /dev/shm is large enough, messages elsewhere";
}

}  // namespace steelyard::ps
