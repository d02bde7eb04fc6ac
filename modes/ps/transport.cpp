#include "modes/ps/transport.hpp"

#include <algorithm>
#include <array>

#include "modes/ps/node_memory.hpp"

namespace steelyard::ps {
namespace {

constexpr std::array<std::string_view, 3> kTransports = {"auto", "message", "shared"};
constexpr std::array<std::string_view, 3> kAggregates = {"auto", "none", "node"};

std::string mebibytes(std::size_t bytes) { return std::to_string((bytes + (1U << 20U) - 1) >> 20U) + " MiB"; }

/// Pairs of a server and a worker on this node.
std::size_t pairs(const NodeRoles& here) { return here.servers.size() * here.workers.size(); }

std::string name_of(std::size_t shared_pairs, std::size_t all_pairs) {
  return shared_pairs == 0 ? "message" : shared_pairs == all_pairs ? "shared" : "mixed";
}

Status check_words(const TrialConfig& config, bool all_together) {
  if (std::ranges::find(kTransports, config.transport) == kTransports.end())
    return Error{"--transport '" + config.transport + "': choose one of: auto, message, shared"};
  if (std::ranges::find(kAggregates, config.aggregate) == kAggregates.end())
    return Error{"--aggregate '" + config.aggregate + "': choose one of: auto, none, node"};
  if (config.aggregate != "node") return success();
  if (!all_together)
    return Error{"--aggregate node with --consistency " + config.consistency +
                 ": every push is an update of its own; say none, or use bsp"};
  if (config.transport == "message")
    return Error{
        "--aggregate node with --transport message: workers sum in memory that they share; say auto"};
  return success();
}

/// Sums by node are no sums in worker order, which --deterministic promises, unless they are asked for.
bool may_sum(const TrialConfig& config, bool all_together) {
  return all_together &&
         (config.aggregate == "node" || (config.aggregate == "auto" && !config.deterministic));
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
  if (Status words = check_words(config, all_together); !words) return words.error();
  const bool sums_asked = may_sum(config, all_together);
  Transport transport;
  transport.nodes.resize(static_cast<std::size_t>(topology.nodes));
  const std::size_t all_pairs = roles.servers.size() * roles.workers.size();
  std::size_t shared_pairs = 0;
  for (int node = 0; node < topology.nodes && config.transport != "message"; ++node) {
    const NodeRoles here = roles_on_node(roles, topology, node);
    const bool lone = here.servers.size() == roles.servers.size();
    NodeTransport wanted{true, false, sums_asked && here.workers.size() > 1 && !lone};
    wanted.in_place = all_together && (lone || wanted.sums);
    if (pairs(here) == 0 && !wanted.sums) continue;
    const std::size_t needed = NodeMemory::bytes_for(plan, here, wanted) + mpi::kSharedMemoryMargin;
    const std::size_t free = topology.shared_memory_of_node[static_cast<std::size_t>(node)];
    if (needed > free) {
      transport.note = "/dev/shm of node " + std::to_string(node) + " has " + mebibytes(free) +
                       " free; sharing takes " + mebibytes(needed);
      continue;
    }
    transport.nodes[static_cast<std::size_t>(node)] = wanted;
    shared_pairs += pairs(here);
  }
  transport.name = name_of(shared_pairs, all_pairs);
  transport.aggregate = std::ranges::any_of(transport.nodes, &NodeTransport::sums) ? "node" : "none";
  if (config.transport == "shared" && shared_pairs < all_pairs)
    return Error{"--transport shared: " +
                 (transport.note.empty() ? "servers and workers are on different nodes" : transport.note) +
                 "; say auto or message"};
  if (config.aggregate == "node" && !transport.note.empty())
    return Error{"--aggregate node: " + transport.note + "; say auto or none"};
  return transport;
}

std::vector<Source> sources_of(const Transport& transport, const Roles& roles, const mpi::Topology& topology,
                               int server) {
  const auto node_of = [&](Rank rank) { return topology.node_of_rank[static_cast<std::size_t>(rank)]; };
  const int own = node_of(roles.servers[static_cast<std::size_t>(server)]);
  std::vector<int> source_of_node(transport.nodes.size(), Roles::kNone);
  std::vector<Source> sources;
  for (int worker = 0; worker < static_cast<int>(roles.workers.size()); ++worker) {
    const auto node = static_cast<std::size_t>(node_of(roles.workers[static_cast<std::size_t>(worker)]));
    const bool joins = transport.nodes[node].sums && static_cast<int>(node) != own;
    if (joins && source_of_node[node] != Roles::kNone) {
      sources[static_cast<std::size_t>(source_of_node[node])].workers.push_back(worker);
      continue;
    }
    source_of_node[node] = static_cast<int>(sources.size());
    sources.push_back({{worker}});
  }
  return sources;
}

std::string transport_help() {
  return "shared: servers read gradients and workers read values where they lie, in memory of their node\n"
         "message: MPI messages\n"
         "auto: shared within a node where its /dev/shm is large enough, messages elsewhere";
}

std::string aggregate_help() {
  return "node: the workers of a node sum before they push to servers elsewhere, and pull once (bsp)\n"
         "none: every worker pushes alone\n"
         "auto: node, except with --deterministic, which sums in worker order";
}

}  // namespace steelyard::ps
