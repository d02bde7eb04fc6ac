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

TEST(Device, GpusTakeAnAllreduce) {
  EXPECT_EQ(refusal(on_gpu("allreduce", 0), "lenet", 1), "");
  EXPECT_EQ(refusal(on_gpu("allreduce", 1), "lenet", 2), "");  // The other rank is idle.
  EXPECT_EQ(refusal(on_gpu("allreduce", 0), "replay:lenet", 1), "");
  EXPECT_EQ(refusal(on_gpu("allreduce", 0), "lenet", 3), "");
}

TEST(Device, WorkersThatShareAGpuAreNamed) {
  mpi::Topology topology = one_node(4);
  topology.gpu_of_rank = {"a 00:01", "b 00:01", "a 00:02", "a 00:01"};
  const ModelSpec model = describe_model("lenet").value();
  const auto refused = check_trial(on_gpu("allreduce", 0), model, topology);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "--device cuda: ranks 0 and 3 share one (a 00:01), and NCCL needs a GPU for each; start as many "
            "workers "
            "on a node as it has");
  EXPECT_TRUE(check_trial(on_gpu("allreduce", 1), model, topology)) << "rank 0 is idle";
}

TEST(Device, EverythingElseIsRefusedByName) {
  EXPECT_NE(refusal(on_gpu("ps", 1), "lenet", 2).find("--mode ps: only allreduce"), std::string::npos);
  TrialConfig ring = on_gpu("allreduce", 0);
  ring.collective = "ring";
  EXPECT_NE(refusal(ring, "lenet", 2).find("--collective ring with --device cuda"), std::string::npos);
  TrialConfig narrow = on_gpu("allreduce", 0);
  narrow.wire = "bf16";
  EXPECT_NE(refusal(narrow, "lenet", 2).find("--wire bf16 with --device cuda"), std::string::npos);
  TrialConfig on_cpu = on_gpu("allreduce", 0);
  on_cpu.device = "cpu";
  on_cpu.collective = "nccl";
  EXPECT_EQ(refusal(on_cpu, "lenet", 2), "--collective nccl sums on GPUs: it goes with --device cuda");
  TrialConfig slowed = on_gpu("allreduce", 0);
  slowed.injection = parse_injection("worker=0:compute=2").value();
  EXPECT_NE(refusal(slowed, "lenet", 1).find("--slow with --device cuda"), std::string::npos);
  TrialConfig quota = on_gpu("allreduce", 0);
  quota.emulation.compute = "quota";
  EXPECT_NE(refusal(quota, "replay:lenet", 1).find("--compute quota"), std::string::npos);
}

}  // namespace
}  // namespace steelyard
