#include "src/data/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace steelyard {
namespace {

std::vector<std::uint32_t> global_batch(Step step, int workers, std::uint64_t seed = 1) {
  Sampler sampler(103, 10, seed);
  std::vector<std::uint32_t> all;
  for (int worker = 0; worker < workers; ++worker) {
    const auto own = sampler.slice(step, {worker, workers});
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

TEST(Sampler, TheGlobalBatchDoesNotDependOnTheNumberOfWorkers) {
  for (Step step = 0; step < 40; ++step)
    for (int workers = 2; workers <= 23; ++workers)
      EXPECT_EQ(global_batch(step, workers), global_batch(step, 1));
}

TEST(Sampler, AnEpochHasEverySampleOnceAndEndsShort) {
  const Sampler sampler(103, 10, 1);
  EXPECT_EQ(sampler.steps_per_epoch(), 11);
  EXPECT_EQ(sampler.batch_size(10), 3U);
  EXPECT_EQ(sampler.batch_size(11), 10U);
  std::vector<std::uint32_t> seen;
  for (Step step = 11; step < 22; ++step)
    for (const std::uint32_t i : global_batch(step, 4)) seen.push_back(i);
  std::ranges::sort(seen);
  for (std::uint32_t i = 0; i < 103; ++i) EXPECT_EQ(seen.at(i), i);
  EXPECT_EQ(seen.size(), 103U);
}

TEST(Sampler, EpochsAndSeedsShuffleDifferently) {
  EXPECT_NE(global_batch(0, 1), global_batch(11, 1));
  EXPECT_NE(global_batch(0, 1, 1), global_batch(0, 1, 2));
}

TEST(Sampler, LargestSliceHoldsEverySlice) {
  for (int workers = 1; workers <= 23; ++workers) {
    Sampler sampler(103, 10, 1);
    for (Step step = 0; step < 22; ++step)
      for (int worker = 0; worker < workers; ++worker)
        EXPECT_LE(sampler.slice(step, {worker, workers}).size(), sampler.largest_slice(workers));
  }
}

}  // namespace
}  // namespace steelyard
