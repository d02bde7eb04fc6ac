#include "src/trace/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace steelyard::trace {
namespace {

TEST(Statistics, MedianAndQuantile) {
  EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_TRUE(std::isnan(median(std::vector<double>{})));
  EXPECT_EQ(quantile(std::vector{1.0, 2.0, 3.0, 4.0}, 0.5), 2.0);
  EXPECT_EQ(quantile(std::vector{1.0, 2.0, 3.0, 4.0}, 1.0), 4.0);
}

TEST(Statistics, FiveSamplesAllowNoIntervalSixAllowTheirRange) {
  const Estimate five = estimate_median(std::vector{1.0, 2.0, 3.0, 4.0, 5.0}, 0.95);
  EXPECT_TRUE(std::isinf(five.low) && std::isinf(five.high));  // 2 / 2^5 > 0.05
  const Estimate six = estimate_median(std::vector{1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, 0.95);
  EXPECT_EQ(six.low, 1.0);  // 2 / 2^6 = 0.03
  EXPECT_EQ(six.high, 6.0);
  EXPECT_EQ(samples_needed(0.05), 6);
}

TEST(Statistics, IntervalMatchesTheTableForTwentySamples) {
  std::vector<double> x;
  for (int i = 1; i <= 20; ++i) x.push_back(i);
  const Estimate e = estimate_median(x, 0.95);  // The 6th and the 15th (Conover 1999, table A3).
  EXPECT_EQ(e.low, 6.0);
  EXPECT_EQ(e.high, 15.0);
}

TEST(Statistics, IntervalCoversTheMedianAsOftenAsItSays) {
  std::mt19937 random(1);
  std::exponential_distribution<double> skewed;  // Median log 2.
  int covered = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> x(11);
    for (double& one : x) one = skewed(random);
    const Estimate e = estimate_median(x, 0.95);
    covered += e.low <= std::log(2.0) && std::log(2.0) <= e.high ? 1 : 0;
  }
  EXPECT_GE(covered, static_cast<int>(0.95 * kTrials));  // The true coverage with 11 samples is 98.8 %.
}

TEST(Statistics, SignTestByHand) {
  EXPECT_DOUBLE_EQ(sign_test(std::vector{2.0, 2.0, 2.0, 2.0, 2.0, 2.0}, 1.0), 2.0 / 64.0);
  EXPECT_DOUBLE_EQ(sign_test(std::vector{0.5, 2.0, 2.0, 2.0}, 1.0), 2.0 * 5.0 / 16.0);
  EXPECT_EQ(sign_test(std::vector{0.5, 2.0}, 1.0), 1.0);
  EXPECT_EQ(sign_test(std::vector{1.0, 1.0}, 1.0), 1.0);  // Ties say nothing.
}

TEST(Statistics, HolmStopsAtTheFirstThatFails) {
  const std::vector<double> p = {0.04, 0.001, 0.03};
  EXPECT_EQ(holm_rejects(p, 0.05), (std::vector<bool>{false, true, false}));  // 0.03 > 0.05 / 2
  EXPECT_EQ(holm_rejects(std::vector{0.01, 0.02, 0.04}, 0.05), (std::vector<bool>{true, true, true}));
  const auto levels = holm_levels(p, 0.05);
  EXPECT_DOUBLE_EQ(levels[1], 0.05 / 3);
  EXPECT_DOUBLE_EQ(levels[2], 0.05 / 2);
  EXPECT_DOUBLE_EQ(levels[0], 0.05);
}

TEST(Statistics, AnIntervalExcludesTheCentreExactlyWhenTheSignTestRejects) {
  std::mt19937 random(2);
  std::normal_distribution<double> noise(1.0, 0.1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> x(10);
    for (double& one : x) one = noise(random) + 0.1;
    const Estimate e = estimate_median(x, 0.975);
    EXPECT_EQ(e.low > 1.0 || e.high < 1.0, sign_test(x, 1.0) <= 0.025);
  }
}

}  // namespace
}  // namespace steelyard::trace
