// With --deterministic a rerun repeats the hash of the parameters; with sums in worker order the servers'
// number and the placement change no bit either, nor does the allreduce that sums in the same order.
#include <gtest/gtest.h>

#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

test::Outcome run(const TrialConfig& config, int nodes = 1) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  return test::run_trial(
      config, model, test::small_dataset(model), [](Step) {}, test::pretend_nodes(nodes));
}

TrialConfig base() {
  TrialConfig config;
  config.global_batch = 30;
  config.steps = 12;
  config.evaluate_at_end = false;
  config.deterministic = true;
  return config;
}

TEST(Deterministic, ARerunRepeatsTheHash) {
  for (const char* mode : {"ps", "allreduce"}) {
    const bool ps = std::string_view(mode) == "ps";
    const TrialConfig config = ps ? base() : test::allreduce(base());
    if (ps && test::launch().world.size() < 2) continue;
    const auto first = run(config);
    for (int again = 0; again < 3; ++again) EXPECT_EQ(run(config).hash, first.hash) << mode;
  }
}

TEST(Deterministic, TransportPlacementAndBundlesChangeNoBit) {
  if (test::launch().world.size() < 2) return;
  const auto first = run(base());
  for (const char* transport : {"message", "shared"})
    for (const char* placement : {"round_robin", "largest_first", "p3", "striped", "wrap", "byteps"})
      for (const std::size_t bundle_bytes : {std::size_t{4}, std::size_t{1} << 20U}) {
        TrialConfig config = base();
        config.transport = transport;
        config.placement = placement;
        config.bundle_bytes = bundle_bytes;
        config.piece_bytes = 4096;
        EXPECT_EQ(run(config).hash, first.hash) << transport << " " << placement << " " << bundle_bytes;
      }
}

// By itself a sum in worker order is one whatever the nodes; by node it is another, and repeats as well.
TEST(Deterministic, NodesChangeBitsOnlyWhereTheySum) {
  if (test::launch().world.size() < 2) return;
  TrialConfig config = base();
  const auto first = run(config);
  EXPECT_EQ(run(config, 2).hash, first.hash);
  config.aggregate = "node";
  const auto by_node = run(config, 2);
  EXPECT_EQ(by_node.own_hash, test::launch().world.rank() == 0 ? 0 : by_node.hash) << "all workers have one";
  for (int again = 0; again < 3; ++again) EXPECT_EQ(run(config, 2).hash, by_node.hash);
}

// Both sum in worker order, whether a buffer is small or goes in slices.
TEST(Deterministic, SharedMemoryAndParameterServersGiveTheSameBits) {
  for (int others = 1; others < test::launch().world.size(); ++others) {
    TrialConfig config = base();
    config.servers = others;
    const auto ps = run(config);
    config.mode = "allreduce";
    config.collective = "shared";
    for (const std::size_t bucket_bytes : {std::size_t{4}, std::size_t{1} << 20U}) {
      config.first_bucket_bytes = bucket_bytes;
      config.bucket_bytes = bucket_bytes;
      EXPECT_EQ(run(config).hash, ps.hash) << others << " servers or idle, " << bucket_bytes;
      EXPECT_EQ(run(config, 2).hash, ps.hash) << "not in place: " << others << ", " << bucket_bytes;
    }
  }
}

// The same summands in the same order, whoever updates; small buckets have fewer elements than there are
// ranks.
TEST(Deterministic, AShardedOptimizerChangesNoBit) {
  for (const char* collective : {"ring", "recursive"})
    for (const char* optimizer : {"momentum", "adam"})
      for (const std::size_t bucket_bytes : {std::size_t{4}, std::size_t{5000}, std::size_t{1} << 20U}) {
        TrialConfig config = test::allreduce(base(), collective);
        config.optimizer = optimizer;
        config.first_bucket_bytes = bucket_bytes;
        config.bucket_bytes = bucket_bytes;
        const auto replicated = run(config);
        config.sharded_optimizer = true;
        const auto sharded = run(config);
        EXPECT_EQ(sharded.hash, replicated.hash) << collective << " " << optimizer << " " << bucket_bytes;
        EXPECT_EQ(sharded.own_hash, sharded.hash);
        EXPECT_EQ(run(config).hash, sharded.hash);
      }
}

// Whatever the wire and the backend, all ranks end with the same bits. In place nothing changes.
TEST(Deterministic, AShardedOptimizerLeavesAllRanksTheSameBits) {
  for (const char* collective : {"mpi", "ring", "recursive", "auto", "shared"})
    for (const char* wire : {"fp32", "bf16"}) {
      TrialConfig config = test::allreduce(base(), collective);
      config.wire = wire;
      config.sharded_optimizer = true;
      const auto first = run(config);
      EXPECT_EQ(first.own_hash, first.hash) << collective << " " << wire;
      EXPECT_TRUE(config.collective == "mpi" || run(config).hash == first.hash) << collective << " " << wire;
    }
  TrialConfig config = test::allreduce(base());
  const auto in_place = run(config);
  config.sharded_optimizer = true;
  EXPECT_EQ(run(config).hash, in_place.hash);
}

TEST(Deterministic, ChangingTheSeedChangesTheHash) {
  TrialConfig config = test::allreduce(base());
  const auto first = run(config);
  config.seed = 1;
  EXPECT_NE(run(config).hash, first.hash);
}

}  // namespace
}  // namespace steelyard
