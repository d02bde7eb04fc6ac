/// Replay dies of the first value that is not, bit for bit, what all workers' pushes and the optimizer make
/// of it. So a trial that ends is the proof; what is asked here is that everything gets its turn.

#include <gtest/gtest.h>

#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

Dataset counted() {
  const ModelSpec model = describe_model("replay:lenet").value();
  return load_dataset({"none", "", model.inputs, model.classes, 0}).value();
}

TrialConfig base(int servers) {
  TrialConfig config;
  config.servers = servers;
  config.steps = 12;
  config.global_batch = 5;  // At 7 workers some have no samples; their gradients count all the same.
  return config;
}

void run(const TrialConfig& config, int nodes = 1) {
  const ModelSpec model = describe_model("replay:lenet").value();
  ASSERT_TRUE(check_trial(config, model, test::pretend_nodes(nodes))) << config.mode << config.placement;
  const auto outcome = test::run_trial(
      config, model, counted(), [](Step) {}, test::pretend_nodes(nodes));
  EXPECT_NE(outcome.hash, 0U);
}

TEST(Replay, EveryPlacementDeliversEveryElement) {
  for (const char* placement : {"round_robin", "greedy", "range", "p3", "striped", "wrap", "byteps"})
    for (int servers = 1; servers < test::launch().world.size(); ++servers)
      for (const std::size_t bundle : {std::size_t{4}, std::size_t{128} * 1024}) {
        TrialConfig config = base(servers);
        config.placement = placement;
        config.bundle_bytes = bundle;
        run(config);
      }
}

TEST(Replay, EveryTransportDeliversEveryElement) {
  for (const test::Way& way : test::kWays)
    for (int servers = 1; servers < test::launch().world.size(); ++servers)
      for (const char* ranks : {"first", "spread"}) {
        TrialConfig config = base(servers);
        config.transport = way.transport;
        config.aggregate = way.aggregate;
        config.server_ranks = ranks;
        config.bundle_bytes = 1024;
        config.piece_bytes = 10'000;
        run(config, way.nodes);
      }
}

TEST(Replay, SixteenBitPushesArriveInTheirPlace) {
  for (const char* wire : {"fp16", "bf16"})
    for (int servers = 1; servers < test::launch().world.size(); ++servers) {
      TrialConfig config = base(servers);
      config.transport = "message";
      config.wire = wire;
      run(config);
    }
}

TEST(Replay, AsynchronousRepliesAreWhole) {
  for (const test::Way& way : test::kWays)
    for (int servers = 1; servers < test::launch().world.size(); ++servers) {
      TrialConfig config = base(servers);
      config.consistency = "asp";
      config.transport = way.transport;
      config.aggregate = way.aggregate;
      config.steps = 40;
      run(config, way.nodes);
    }
}

TEST(Replay, EveryCollectiveSumsEveryElement) {
  for (const char* collective : {"auto", "mpi", "ring", "recursive", "shared"})
    for (const std::size_t bucket : {std::size_t{1000}, std::size_t{1} << 20U}) {
      TrialConfig config = test::allreduce(base(0), collective);
      config.first_bucket_bytes = bucket;
      config.bucket_bytes = bucket;
      run(config);
    }
}

// Sums of up to four workers fit in the eight bits of bf16.
TEST(Replay, NarrowWiresSumEveryElement) {
  for (const char* collective : {"auto", "mpi", "ring", "recursive", "shared"})
    for (const char* wire : {"fp16", "bf16"}) {
      TrialConfig config = test::allreduce(base(0), collective);
      config.wire = wire;
      if (config.wire == "fp16" || test::launch().world.size() <= 4) run(config);
    }
}

TEST(Replay, AShardedOptimizerDeliversEveryElement) {
  for (const char* collective : {"auto", "mpi", "ring", "recursive", "shared"})
    for (const char* wire : {"fp32", "fp16"})
      for (const char* optimizer : {"sgd", "momentum", "adam"})
        for (const std::size_t bucket : {std::size_t{1000}, std::size_t{1} << 20U}) {
          TrialConfig config = test::allreduce(base(0), collective);
          config.wire = wire;
          config.optimizer = optimizer;
          config.first_bucket_bytes = bucket;
          config.bucket_bytes = bucket;
          config.sharded_optimizer = true;
          run(config);
          // On two nodes auto is a ring.
          if (config.collective == "auto") run(config, 2);
        }
}

TEST(Replay, AShardedOptimizerInSharedMemoryOfSeveralNodesIsRefused) {
  if (test::launch().world.size() < 2) return;  // One rank is on one node.
  TrialConfig config = test::allreduce(base(0), "shared");
  config.sharded_optimizer = true;
  const ModelSpec model = describe_model("replay:lenet").value();
  const Status refused = check_trial(config, model, test::pretend_nodes(2));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("ring, recursive, mpi"), std::string::npos);
}

TEST(Replay, EveryOptimizerIsExact) {
  const int servers = test::launch().world.size() / 2;
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adagrad", "adam"}) {
    TrialConfig config = servers > 0 ? base(servers) : test::allreduce(base(0));
    config.optimizer = optimizer;
    run(config);
  }
}

}  // namespace
}  // namespace steelyard
