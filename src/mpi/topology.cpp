#include "src/mpi/topology.hpp"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "src/base/cores.hpp"

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

/// Collective over `ranks`: how many cores their ranks may use together.
int cores_together(const Communicator& ranks, cpu_set_t cores) {
  check(MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, ranks.native()));
  return CPU_COUNT(&cores);
}

/// Collective over the ranks of a node: the caller's part of the CPU quota of its control group, at most 1.
double share_of_quota(const Communicator& node) {
  const CpuQuota quota = cpu_quota();
  const auto sharing = std::ranges::count(all_texts(node, quota.group), quota.group);
  return std::min(quota.cores / static_cast<double>(sharing), 1.0);
}

/// Bytes that windows may still take here. Linux keeps them in this file system, often a small one in
/// containers.
std::size_t free_shared_memory() {
  struct statvfs status {};
  if (statvfs("/dev/shm", &status) != 0) return 0;
  return static_cast<std::size_t>(status.f_bavail) * status.f_frsize;
}

/// The lowest rank with the same text as `rank`.
Rank first_like(const std::vector<std::string>& texts, Rank rank) {
  return static_cast<Rank>(std::ranges::find(texts, texts[static_cast<std::size_t>(rank)]) - texts.begin());
}

/// Collective. @param leaders the first rank of each node.
std::vector<std::size_t> shared_memory(const Communicator& world, const std::vector<Rank>& leaders,
                                       const std::vector<std::string>& machine_of_rank) {
  const std::uint64_t mine = free_shared_memory();
  std::vector<std::uint64_t> all(static_cast<std::size_t>(world.size()));
  check(MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, world.native()));
  std::vector<std::size_t> bytes;
  for (const Rank leader : leaders) {
    const auto here = first_like(machine_of_rank, leader);
    const auto sharing = std::ranges::count_if(
        leaders, [&](Rank other) { return first_like(machine_of_rank, other) == here; });
    bytes.push_back(all[static_cast<std::size_t>(leader)] / static_cast<std::size_t>(sharing));
  }
  return bytes;
}

}  // namespace

Topology Topology::discover(const Communicator& world) {
  Topology topology;
  const Communicator node = world.split_by_node();
  topology.local_rank = node.rank();
  topology.local_ranks = node.size();

  const std::vector<std::string> machine_of_rank = all_texts(world, machine_id());
  cpu_set_t mine;
  CPU_ZERO(&mine);
  require(sched_getaffinity(0, sizeof mine, &mine) == 0, "sched_getaffinity failed");
  topology.cores_of_rank = all_texts(world, core_list(mine));
  topology.host_of_rank = all_texts(world, host_name());
  topology.local_cores = cores_together(node, mine);
  topology.local_cpu = share_of_quota(node);
  const Communicator machine = world.split(first_like(machine_of_rank, world.rank()));
  const double wanted = sum(machine, topology.local_cpu);
  topology.oversubscribed = greatest(world, wanted > cores_together(machine, mine) + 1e-6 ? 1 : 0) != 0;
  const bool alone = topology.local_cpu >= 1.0 && topology.local_ranks <= topology.local_cores;
  topology.short_of_cores = topology.oversubscribed || greatest(world, alone ? 0 : 1) != 0;
  for (Rank rank = 0; rank < world.size(); ++rank)
    topology.machines += rank > 0 && first_like(machine_of_rank, rank) == rank ? 1 : 0;

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
  topology.shared_memory_of_node = shared_memory(world, distinct, machine_of_rank);
  return topology;
}

void Topology::note_gpus(const Communicator& world, const std::string& bus) {
  gpu_of_rank = all_texts(world, host_name() + " " + bus);
}

}  // namespace steelyard::mpi
