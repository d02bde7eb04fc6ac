// Staleness, ages, skew and drops of a trial made by hand.
#include "src/trace/staleness.hpp"

#include <gtest/gtest.h>

namespace steelyard::trace {
namespace {

StalenessRow stale(int worker, int staleness, std::uint64_t count, std::int64_t age_ms, int skew = 0) {
  return {0, 0, worker, 0, staleness, count, age_ms * 1'000'000, skew};
}

/// Two servers that applied and dropped what two workers pushed.
TrialData trial() {
  TrialData data;
  RankTrial first{"server", 0, {}, {}, {}};
  first.stalenesses = {stale(0, 0, 6, 6), stale(1, 2, 3, 30, 1), stale(1, 9, 1, 70)};
  LoadRow load{};
  load.pushes = 16;
  load.applied = 10;
  load.dropped = 6;
  first.loads = {load};
  first.drops = {{0, DropReason::late, 2}, {1, DropReason::stale, 4}};
  RankTrial second{"server", 1, {}, {}, {}};
  second.stalenesses = {stale(1, 2, 10, 20)};
  load.pushes = 14;
  load.dropped = 3;
  second.loads = {load};
  second.drops = {{1, DropReason::stale, 2}, {1, DropReason::stopped, 1}};
  RankTrial fast{"worker", 0, {}, {}, {}};
  fast.reads = {ReadRow{0, 3, -1, 5, 1, 4}};
  data.ranks = {first, fast, second, RankTrial{"worker", 1, {}, {}, {}}};
  return data;
}

TEST(Staleness, OfAllPushesByHand) {
  const StalenessSummary s = staleness_summary(trial());
  EXPECT_EQ(s.median, 2.0) << "6 of 20 pushes are fresh, 13 have 2";
  EXPECT_EQ(s.p95, 2.0) << "the 19th of 20";
  EXPECT_EQ(s.max, 9);
  EXPECT_DOUBLE_EQ(s.mean, (13 * 2 + 9) / 20.0);
  EXPECT_DOUBLE_EQ(s.mean_age_ms, 126.0 / 20.0);
  EXPECT_DOUBLE_EQ(s.p95_age_ms, 10.0) << "of rows with means 1, 2, 10 and 70 ms";
  EXPECT_EQ(s.max_skew, 4) << "a read saw more than any server alone";
  ASSERT_EQ(s.histogram.size(), 3U);
  EXPECT_EQ(s.histogram[1].max, 2);
  EXPECT_EQ(s.histogram[1].pushes, 13U);
  EXPECT_DOUBLE_EQ(s.histogram[1].mean_age_ms, 50.0 / 13.0);
}

TEST(Staleness, PerWorkerAndPerServer) {
  const StalenessSummary s = staleness_summary(trial());
  ASSERT_EQ(s.by_worker.size(), 2U);
  EXPECT_EQ(s.by_worker[0].pushes, 6U);
  EXPECT_DOUBLE_EQ(s.by_worker[0].mean_age_ms, 1.0);
  EXPECT_DOUBLE_EQ(s.by_worker[1].mean, 35.0 / 14.0);
  EXPECT_EQ(s.by_worker[1].max, 9);
  ASSERT_EQ(s.by_server.size(), 2U);
  EXPECT_DOUBLE_EQ(s.by_server[0].mean, 1.5);
  EXPECT_DOUBLE_EQ(s.by_server[1].mean, 2.0);
}

TEST(Staleness, NothingRecordedIsZero) {
  const StalenessSummary s = staleness_summary({});
  EXPECT_EQ(s.median, 0.0);
  EXPECT_EQ(s.mean_age_ms, 0.0);
  EXPECT_TRUE(s.histogram.empty());
  EXPECT_EQ(drop_summary({}).share, 0.0);
}

TEST(Drops, ByReasonWorkerAndServer) {
  const DropSummary d = drop_summary(trial());
  EXPECT_DOUBLE_EQ(d.share, 9.0 / 30.0);
  EXPECT_EQ(d.by_reason, (std::array<std::uint64_t, 3>{6, 2, 1}));
  EXPECT_EQ(d.by_worker, (std::vector<std::uint64_t>{2, 7}));
  EXPECT_EQ(d.by_server, (std::vector<std::uint64_t>{6, 3}));
}

TEST(Drops, WhatOnlyABadFileHoldsIsNotCountedForAnyone) {
  TrialData data = trial();
  data.ranks[0].drops = {{-1, DropReason::stale, 1}, {2, DropReason::stale, 1}, {0, DropReason{200}, 1}};
  data.ranks[0].stalenesses = {stale(-7, 1, 1, 1), stale(1'000'000, 1, 1, 1)};
  const DropSummary d = drop_summary(data);
  EXPECT_EQ(d.by_reason[0], 2U + 2U);
  EXPECT_EQ(d.by_worker, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(d.by_server[0], 3U);
  EXPECT_EQ(staleness_summary(data).by_worker[0].pushes, 0U);
}

TEST(Tallies, DropsAreCountedByWorkerAndReason) {
  std::vector<DropCount> counts;
  const auto drop = [&](int worker, DropReason reason) {
    count_drop(counts, {0, 5, worker, 2, 7, 100, reason});
  };
  drop(1, DropReason::late);
  drop(0, DropReason::stale);
  drop(1, DropReason::stale);
  drop(1, DropReason::late);
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts[0].worker, 0);
  EXPECT_EQ(counts[1].reason, DropReason::stale);
  EXPECT_EQ(counts[2].pushes, 2U);
}

TEST(Tallies, ReadsAreSummedWithinAStepOnly) {
  std::vector<ReadRow> sums;
  sum_read(sums, {0, 1, 4, 10, 2, 1});
  sum_read(sums, {0, 1, 5, 20, -1, 0});
  sum_read(sums, {0, 1, 6, 30, 2, 3});
  sum_read(sums, {0, 2, 4, 40, 2, 2});
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_EQ(sums[0].wait_ns, 40);
  EXPECT_EQ(sums[0].skew, 3);
  EXPECT_EQ(sums[0].shard, -1);
  EXPECT_EQ(sums[1].waited_for, -1);
  EXPECT_EQ(sums[2].wait_ns, 40);
}

}  // namespace
}  // namespace steelyard::trace
