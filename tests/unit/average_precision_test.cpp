#include "src/trace/average_precision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "src/base/random.hpp"

namespace steelyard::trace {
namespace {

/// Of one tag.
double precision(const std::vector<float>& scores, const std::vector<std::uint16_t>& tags) {
  return mean_average_precision(scores, tags, 1);
}

TEST(AveragePrecision, ByHand) {
  // Relevant at ranks 1, 3, 4 of 5: (1/1 + 2/3 + 3/4) / 3.
  EXPECT_DOUBLE_EQ(precision({0.9F, 0.8F, 0.7F, 0.6F, 0.5F}, {1, 0, 1, 1, 0}),
                   (1.0 + 2.0 / 3.0 + 3.0 / 4.0) / 3.0);
  // The example of scikit-learn's documentation of average_precision_score: 0.83.
  EXPECT_DOUBLE_EQ(precision({0.1F, 0.4F, 0.35F, 0.8F}, {0, 0, 1, 1}), (1.0 + 2.0 / 3.0) / 2.0);
  EXPECT_DOUBLE_EQ(precision({-3.0F, -1.0F, -2.0F}, {0, 1, 1}), 1.0) << "logits do as well as probabilities";
  EXPECT_DOUBLE_EQ(precision({3.0F, 2.0F, 1.0F}, {0, 0, 1}), 1.0 / 3.0) << "the worst order";
}

TEST(AveragePrecision, EqualScoresCountAlikeInWhateverOrderTheyCome) {
  EXPECT_DOUBLE_EQ(precision({1.0F, 1.0F, 1.0F, 1.0F}, {1, 0, 0, 0}), 0.25)
      << "no order at all: the base rate";
  // Second and third are equal: both relevant ones of rank 2 or 3 see 2 of 3.
  EXPECT_DOUBLE_EQ(precision({0.9F, 0.5F, 0.5F, 0.1F}, {1, 1, 0, 0}), (1.0 + 2.0 / 3.0) / 2.0);
  EXPECT_DOUBLE_EQ(precision({0.9F, 0.5F, 0.5F, 0.1F}, {1, 0, 1, 0}), (1.0 + 2.0 / 3.0) / 2.0);
  const float endless = std::numeric_limits<float>::infinity();
  EXPECT_DOUBLE_EQ(precision({endless, endless, -endless}, {1, 0, 0}), 0.5);
}

TEST(AveragePrecision, MeansAreOverTheTagsThatOccur) {
  // Tag 0: relevant at rank 1 of 2; tag 1: at rank 2; tag 2 never.
  const std::vector<float> scores{0.9F, 0.9F, 0.9F, 0.1F, 0.1F, 0.1F};
  EXPECT_DOUBLE_EQ(mean_average_precision(scores, std::vector<std::uint16_t>{0b001, 0b010}, 3),
                   (1.0 + 0.5) / 2.0);
}

TEST(AveragePrecision, IsNoNumberWhereThereIsNothingToFindOrNoOrder) {
  EXPECT_TRUE(std::isnan(precision({0.5F, 0.4F}, {0, 0})));
  EXPECT_TRUE(std::isnan(precision({}, {})));
  EXPECT_TRUE(std::isnan(precision({0.5F, std::nanf(""), 0.4F}, {1, 0, 1})));
}

/// scikit-learn's formula as its documentation has it: sum over the distinct thresholds, descending, of
/// (R_n - R_{n-1}) P_n, where P_n and R_n are precision and recall of the samples at or above the threshold.
double by_thresholds(const std::vector<float>& scores, const std::vector<std::uint16_t>& tags,
                     std::size_t classes, std::size_t tag) {
  std::vector<float> thresholds;
  for (std::size_t i = 0; i < tags.size(); ++i) thresholds.push_back(scores[i * classes + tag]);
  std::ranges::sort(thresholds, std::greater<>());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  const auto total = static_cast<double>(
      std::ranges::count_if(tags, [tag](std::uint16_t set) { return (set >> tag & 1U) != 0; }));
  double sum = 0.0;
  double recall_before = 0.0;
  for (const float threshold : thresholds) {
    double positive = 0.0;
    double right = 0.0;
    for (std::size_t i = 0; i < tags.size(); ++i) {
      if (scores[i * classes + tag] < threshold) continue;
      ++positive;
      right += tags[i] >> tag & 1;
    }
    sum += (right / total - recall_before) * right / positive;
    recall_before = right / total;
  }
  return sum;
}

TEST(AveragePrecision, AgreesWithTheFormulaOfScikitLearn) {
  constexpr std::size_t kCount = 300;
  constexpr std::size_t kClasses = 7;
  for (const float grain : {1e-9F, 0.05F, 0.7F}) {  // The coarser, the more scores are equal.
    std::vector<float> scores(kCount * kClasses);
    std::vector<std::uint16_t> tags(kCount);
    for (std::size_t i = 0; i < scores.size(); ++i)
      scores[i] = std::round(random_unit(1, 0, i) / grain) * grain;
    for (std::size_t i = 0; i < kCount; ++i)
      tags[i] = static_cast<std::uint16_t>(random_bits(2, 0, i) & random_bits(3, 0, i) & 0x7FU);
    double wanted = 0.0;
    for (std::size_t tag = 0; tag < kClasses; ++tag) wanted += by_thresholds(scores, tags, kClasses, tag);
    EXPECT_NEAR(mean_average_precision(scores, tags, kClasses), wanted / kClasses, 1e-12) << grain;
  }
}

}  // namespace
}  // namespace steelyard::trace
