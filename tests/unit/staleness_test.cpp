// What policies make of stale gradients, by hand-worked values.
#include "modes/ps/staleness/staleness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "modes/ps/staleness/experience.hpp"

namespace steelyard::ps {
namespace {

constexpr std::array<float, 3> kGradient = {1.0F, -2.0F, 0.5F};
constexpr std::array<float, 3> kNow = {0.5F, 1.0F, 4.0F};
constexpr std::array<float, 3> kRead = {0.0F, 2.0F, 2.0F};

struct Outcome {
  Use use;
  std::array<float, 3> gradient{};
};

Outcome use(const char* name, StaleGradient push, const StalenessOptions& options = {}) {
  push.gradient = kGradient;
  push.now = kNow;
  push.read = kRead;
  std::array<float, 3> scratch{};
  Outcome outcome{make_staleness(name, options).value()->use(push, scratch)};
  if (!outcome.use.drop) std::ranges::copy(outcome.use.gradient, outcome.gradient.begin());
  return outcome;
}

TEST(Staleness, KeepKeepsEverything) {
  const Outcome late = use("keep", {.staleness = 1000});
  EXPECT_FALSE(late.use.drop);
  EXPECT_EQ(late.use.rate, 1.0F);
  EXPECT_EQ(late.gradient, kGradient);
}

TEST(Staleness, DropGoesByTheBound) {
  EXPECT_FALSE(use("drop", {.staleness = 4}, {.max_staleness = 4}).use.drop);
  EXPECT_TRUE(use("drop", {.staleness = 5}, {.max_staleness = 4}).use.drop);
}

TEST(Staleness, DampDividesTheRate) {
  EXPECT_EQ(use("damp", {.staleness = 0}).use.rate, 1.0F);
  EXPECT_EQ(use("damp", {.staleness = 1}).use.rate, 1.0F);
  EXPECT_EQ(use("damp", {.staleness = 4}).use.rate, 0.25F);
}

TEST(Staleness, CompensateAddsTheFirstOrderTerm) {
  const Outcome late = use("compensate", {.staleness = 3}, {.compensation = 0.5});
  for (std::size_t i = 0; i < kGradient.size(); ++i)
    EXPECT_FLOAT_EQ(late.gradient[i],
                    kGradient[i] + 0.5F * kGradient[i] * kGradient[i] * (kNow[i] - kRead[i]));
  EXPECT_EQ(use("compensate", {.staleness = 0}).gradient, kGradient) << "nothing has moved";
}

// On f(w) = h w^2 / 2 the gradient moves by h (w - w_read): with lambda g g = h the correction is exact.
TEST(Staleness, CompensateIsExactOnAQuadratic) {
  constexpr float kCurvature = 0.75F;
  constexpr std::array<float, 1> read = {2.0F};
  constexpr std::array<float, 1> now = {1.25F};
  const std::array<float, 1> gradient = {kCurvature * read[0]};
  std::array<float, 1> scratch{};
  const double lambda = kCurvature / (gradient[0] * gradient[0]);
  const auto policy = make_staleness("compensate", {.compensation = lambda}).value();
  const StaleGradient push{2, 0.0, gradient, now, read, {}};
  EXPECT_NEAR(policy->use(push, scratch).gradient[0], kCurvature * now[0], 1e-6);
}

TEST(Staleness, CostAwareLeavesOutHarm) {
  EXPECT_TRUE(use("cost_aware", {.staleness = 5, .worth = {-0.1, 0.0, 0.5, 1.0, true}}).use.drop);
  EXPECT_FALSE(use("cost_aware", {.staleness = 5, .worth = {0.1, 0.0, 0.5, 1.0, true}}).use.drop);
  EXPECT_FALSE(use("cost_aware", {.staleness = 5, .worth = {-0.1, 0.0, 0.5, 1.0, false}}).use.drop)
      << "too little is known";
  EXPECT_FALSE(use("cost_aware", {.staleness = 5, .worth = {-0.1, 0.06, 0.5, 1.0, true}}).use.drop)
      << "it may be chance";
  EXPECT_TRUE(use("cost_aware", {.staleness = 5, .worth = {-0.1, 0.04, 0.5, 1.0, true}}).use.drop);
  EXPECT_FALSE(use("cost_aware", {.staleness = 0, .worth = {-0.1, 0.0, 0.5, 1.0, true}}).use.drop);
}

// Made again, it costs another cycle: 0.2 in 1 s against 0.5 in 2 s; and 0.3 against that.
TEST(Staleness, CostAwareWeighsProgressPerSecond) {
  const StalenessOptions again{.recompute = true};
  EXPECT_TRUE(
      use("cost_aware", {.staleness = 5, .age_s = 1.0, .worth = {0.2, 0.0, 0.5, 1.0, true}}, again).use.drop);
  EXPECT_FALSE(
      use("cost_aware", {.staleness = 5, .age_s = 1.0, .worth = {0.3, 0.0, 0.5, 1.0, true}}, again).use.drop);
}

TEST(Staleness, ExperienceTellsUsefulGradientsFromHarmfulOnes) {
  Experience experience(3);
  const std::array<float, 3> opposite = {-1.0F, 2.0F, -0.5F};
  Worth fresh;
  Worth stale;
  for (int i = 0; i < 100; ++i) {
    fresh = experience.observe(1, 0.5, kGradient);
    if (i % 4 == 0) stale = experience.observe(9, 2.0, opposite);
  }
  EXPECT_TRUE(fresh.known);
  EXPECT_NEAR(fresh.of_this, 1.0, 1e-3);
  EXPECT_TRUE(stale.known);
  EXPECT_NEAR(stale.of_this, -1.0, 1e-3);
  EXPECT_GT(stale.usual_age_s, 0.5);
}

// Cosines of 1 and -1 scatter by 1; weights 0.1, 0.09, ... leave sqrt(0.1 / 1.9) of that.
TEST(Staleness, ExperienceSaysHowSureItIs) {
  Experience experience(2);
  constexpr std::array<float, 2> usual = {1.0F, 0.0F};
  constexpr std::array<float, 2> opposite = {-1.0F, 0.0F};
  Worth doubtful;
  for (int i = 0; i < 200; ++i) {
    for (int k = 0; k < 8; ++k) (void)experience.observe(1, 0.5, usual);
    doubtful = experience.observe(9, 2.0, i % 2 == 0 ? usual : opposite);
  }
  EXPECT_NEAR(doubtful.error, std::sqrt(0.1 / 1.9), 1e-3);
  EXPECT_LT(std::abs(doubtful.of_this), 0.1);
}

TEST(Staleness, UnknownNameListsEveryPolicy) {
  EXPECT_EQ(make_staleness("x").error().message,
            "unknown staleness policy 'x'; choose one of: keep, drop, damp, compensate, cost_aware");
}

}  // namespace
}  // namespace steelyard::ps
