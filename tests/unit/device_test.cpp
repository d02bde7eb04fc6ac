// What --device cuda cannot do is refused before anything runs, whatever this machine has.
#include <gtest/gtest.h>

#include "modes/mode.hpp"

namespace steelyard {
namespace {

mpi::Topology one_node(std::size_t ranks) {
  mpi::Topology topology;
  topology.node_of_rank.assign(ranks, 0);
  topology.host_of_rank.assign(ranks, "here");
  topology.cores_of_rank.assign(ranks, "0");
  topology.shared_memory_of_node = {std::size_t{1} << 30U};
  topology.local_ranks = static_cast<int>(ranks);
  return topology;
}

TrialConfig on_gpu(const char* mode, int servers) {
  TrialConfig config;
  config.mode = mode;
  config.device = "cuda";
  config.servers = servers;
  return config;
}

std::string refusal(const TrialConfig& config, const char* model, std::size_t ranks) {
  const auto good = check_trial(config, describe_model(model).value(), one_node(ranks));
  return good ? "" : good.error().message;
}

TEST(Device, AGpuTakesAnAllreduceOfOneWorker) {
  EXPECT_EQ(refusal(on_gpu("allreduce", 0), "lenet", 1), "");
  EXPECT_EQ(refusal(on_gpu("allreduce", 1), "lenet", 2), "");  // The other rank is idle.
  EXPECT_EQ(refusal(on_gpu("allreduce", 0), "replay:lenet", 1), "");
}

TEST(Device, EverythingElseIsRefusedByName) {
  EXPECT_NE(refusal(on_gpu("allreduce", 0), "lenet", 2).find("not allreduce with 2 workers"),
            std::string::npos);
  EXPECT_NE(refusal(on_gpu("ps", 1), "lenet", 2).find("not ps with 1 worker"), std::string::npos);
  TrialConfig slowed = on_gpu("allreduce", 0);
  slowed.injection = parse_injection("worker=0:compute=2").value();
  EXPECT_NE(refusal(slowed, "lenet", 1).find("--slow with --device cuda"), std::string::npos);
  TrialConfig quota = on_gpu("allreduce", 0);
  quota.emulation.compute = "quota";
  EXPECT_NE(refusal(quota, "replay:lenet", 1).find("--compute quota"), std::string::npos);
}

}  // namespace
}  // namespace steelyard
