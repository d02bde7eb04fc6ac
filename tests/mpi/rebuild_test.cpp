// Buckets are rebuilt once where gradients become ready in another order than was foreseen; the training is
// the same, with every backend, wherever values and optimizer states lie.
#include "modes/allreduce/rebuild.hpp"

#include <gtest/gtest.h>

#include "tests/support/harness.hpp"
#include "tests/support/reordered.hpp"

namespace steelyard {
namespace {

constexpr const char* kCollectives[] = {"auto", "mpi", "ring", "recursive", "shared"};

TrialConfig base(const char* collective) {
  TrialConfig config = test::allreduce({}, collective);
  config.optimizer_options.rate = 0.01F;
  config.global_batch = 24;
  config.steps = 6;
  config.evaluate_at_end = false;
  config.first_bucket_bytes = 2048;
  config.bucket_bytes = 16384;
  return config;
}

ModelSpec mlp() { return describe_model("mlp:784-37-19-10").value(); }

test::Outcome run(const TrialConfig& config, const ModelSpec& model, int nodes = 1) {
  return test::run_trial(
      config, model, test::small_dataset(model), [](Step) {}, test::pretend_nodes(nodes));
}

// On two nodes nothing lies in place.
TEST(Rebuild, OnceAndTheTrainingIsSerial) {
  const ModelSpec model = test::reordered(mlp());
  for (const char* optimizer : {"sgd", "momentum"})
    for (const char* collective : kCollectives)
      for (const bool sharded : {false, true})
        for (const int nodes : {1, 2}) {
          TrialConfig config = base(collective);
          config.optimizer = optimizer;
          config.sharded_optimizer = sharded;
          if (!check_trial(config, model, test::pretend_nodes(nodes))) continue;  // Shared and sharded.
          const auto outcome = run(config, model, nodes);
          const auto wanted = test::serial(config, mlp(), test::small_dataset(model));
          EXPECT_LE(test::distance(model, outcome.values, wanted), 1e-5)
              << optimizer << " " << collective << " sharded " << sharded << " nodes " << nodes;
          EXPECT_EQ(outcome.bucket_rebuilds, 1) << collective << " sharded " << sharded;
          EXPECT_EQ(outcome.own_hash, outcome.hash) << collective << " sharded " << sharded;
        }
}

// Where an element's sum has one order whatever its bucket, not a bit may differ: adam has two words of state
// for each element, and slices that end within a block.
TEST(Rebuild, MovesEveryBitOfTheState) {
  const int ranks = test::launch().world.size();
  for (const char* collective : kCollectives)
    for (const bool sharded : {false, true}) {
      TrialConfig config = base(collective);
      config.deterministic = true;
      config.optimizer = "adam";
      config.sharded_optimizer = sharded;
      const bool in_place = config.collective == "auto" || config.collective == "shared";
      if (!in_place && ranks > 2) continue;
      EXPECT_EQ(run(config, test::reordered(mlp())).hash, run(config, mlp()).hash)
          << collective << " sharded " << sharded;
    }
}

// Replay checks every value that it is given, in every step.
TEST(Rebuild, DeliversEveryElement) {
  const ModelSpec model = test::reordered(describe_model("replay:lenet").value());
  const Dataset none = load_dataset({"none", "", model.inputs, model.classes, 0}).value();
  for (const char* collective : kCollectives)
    for (const char* wire : {"fp32", "fp16"})
      for (const bool sharded : {false, true}) {
        TrialConfig config = base(collective);
        config.wire = wire;
        config.sharded_optimizer = sharded;
        if (!check_trial(config, model, test::launch().topology)) continue;  // Shared, fp16 and sharded.
        EXPECT_EQ(test::run_trial(config, model, none).bucket_rebuilds, 1) << collective << " " << wire;
      }
}

TEST(Rebuild, NeverWhereTheOrderWasForeseenOrNoStepIsLeft) {
  for (const char* collective : kCollectives) {
    TrialConfig config = base(collective);
    EXPECT_EQ(run(config, mlp()).bucket_rebuilds, 0) << collective;
    config.steps = 1;
    EXPECT_EQ(run(config, test::reordered(mlp())).bucket_rebuilds, 0) << collective;
  }
}

TEST(Rebuild, ChoosesAgainForTheNewBuckets) {
  TrialConfig config = base("auto");
  const auto foreseen = run(config, mlp(), 2);
  const auto rebuilt = run(config, test::reordered(mlp()), 2);
  const auto bytes = [](const test::Outcome& outcome) {
    std::vector<std::size_t> each;
    for (const CollectiveChoice& choice : outcome.choices) each.push_back(choice.bytes);
    return each;
  };
  EXPECT_NE(bytes(rebuilt), bytes(foreseen));
  std::size_t sum = 0;
  for (const std::size_t one : bytes(rebuilt)) sum += one;
  EXPECT_EQ(sum, total_elements(mlp().inventory) * sizeof(float));
}

}  // namespace
}  // namespace steelyard
