#include "src/mpi/topology.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace steelyard::mpi {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string core_list(const cpu_set_t& cores) {
  std::string list;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &cores)) list += (list.empty() ? "" : ",") + std::to_string(core);
  return list;
}

std::vector<std::string> all_texts(const Communicator& world, const std::string& mine) {
  std::vector<std::size_t> sizes;
  std::vector<std::byte> all = gather(world, std::as_bytes(std::span(mine)), 0, sizes);
  std::uint64_t total = all.size();
  check(MPI_Bcast(&total, 1, MPI_UINT64_T, 0, world.native()));
  all.resize(total);
  sizes.resize(static_cast<std::size_t>(world.size()));
  broadcast(world, all, 0);
  broadcast(world, std::as_writable_bytes(std::span(sizes)), 0);
  std::vector<std::string> texts;
  const char* next = reinterpret_cast<const char*>(all.data());
  for (const std::size_t size : sizes) {
    texts.emplace_back(next, size);
    next += size;
  }
  return texts;
}

}  // namespace

Topology Topology::discover(const Communicator& world) {
  Topology topology;
  const Communicator node = world.split_by_node();
  topology.local_rank = node.rank();
  topology.local_ranks = node.size();

  cpu_set_t mine;
  CPU_ZERO(&mine);
  require(sched_getaffinity(0, sizeof mine, &mine) == 0, "sched_getaffinity failed");
  topology.cores_of_rank = all_texts(world, core_list(mine));
  topology.host_of_rank = all_texts(world, host_name());
  cpu_set_t together = mine;
  check(MPI_Allreduce(MPI_IN_PLACE, &together, sizeof together, MPI_BYTE, MPI_BOR, node.native()));
  topology.local_cores = CPU_COUNT(&together);
  topology.oversubscribed = greatest(world, topology.local_ranks > topology.local_cores ? 1 : 0) != 0;

  int leader = world.rank();
  check(MPI_Bcast(&leader, 1, MPI_INT, 0, node.native()));
  std::vector<int> leaders(static_cast<std::size_t>(world.size()));
  check(MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, world.native()));
  std::vector<int> distinct = leaders;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  topology.nodes = static_cast<int>(distinct.size());
  for (const int one : leaders)
    topology.node_of_rank.push_back(
        static_cast<int>(std::ranges::lower_bound(distinct, one) - distinct.begin()));
  return topology;
}

}  // namespace steelyard::mpi
