// Copies of values on the way: how many, how much memory they may take, and what is said where it is too
// much.
#include <gtest/gtest.h>

#include "modes/evaluation.hpp"

namespace steelyard {
namespace {

TrialConfig config(Step steps, Step every) {
  TrialConfig made;
  made.steps = steps;
  made.evaluate_every = every;
  return made;
}

/// A model of as many bytes.
ModelSpec model(std::size_t bytes) {
  ModelSpec spec;
  spec.inventory.push_back({"w", {bytes / sizeof(float)}});
  return spec;
}

TEST(Snapshots, AreOfStepsOnTheWayAlone) {
  EXPECT_EQ(snapshots_of(config(100, 0)), 0U);
  EXPECT_EQ(snapshots_of(config(100, 1)), 99U);
  EXPECT_EQ(snapshots_of(config(100, 50)), 1U) << "the last values need no copy";
  EXPECT_EQ(snapshots_of(config(101, 50)), 2U);
  EXPECT_EQ(snapshots_of(config(100, 100)), 0U);
  EXPECT_EQ(snapshots_of(config(0, 10)), 0U) << "time decides the steps";
}

TEST(Snapshots, TakeTwoGibibytesAndNoMore) {
  const ModelSpec large = model(std::size_t{1} << 28U);
  EXPECT_TRUE(check_snapshots(config(81, 10), large)) << "8 copies of 256 MiB";
  const auto refused = check_snapshots(config(91, 10), large);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "evaluating every 10 of 91 steps keeps 9 copies of the parameters, 268435456 bytes each, 3 GiB, and "
      "they may take 2 GiB; give --evaluate-every 11 or more, fewer --steps, or --evaluate end");
  EXPECT_TRUE(check_snapshots(config(91, 11), large)) << "the advice can be followed";
  ModelSpec replay = large;
  replay.replay = true;
  EXPECT_TRUE(check_snapshots(config(91, 1), replay)) << "it is never evaluated";
}

TEST(Snapshots, TheAdviceIsTheLeastThatFits) {
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{1} << 26U, std::size_t{3} << 30U})
    for (const Step steps : {Step{2}, Step{1000}, Step{1} << 40U}) {
      const auto refused = check_snapshots(config(steps, 1), model(bytes));
      if (refused) continue;
      const std::string& text = refused.error().message;
      const Step advice = std::stoll(text.substr(text.find("--evaluate-every ") + 17));
      EXPECT_TRUE(check_snapshots(config(steps, advice), model(bytes))) << text;
      EXPECT_FALSE(check_snapshots(config(steps, advice - 1), model(bytes))) << text;
    }
}

}  // namespace
}  // namespace steelyard
