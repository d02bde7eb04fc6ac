#include "src/trace/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace steelyard::trace {
namespace {

/// Two workers, four steps of 2 ms, the first a slow warm-up.
TrialData trial() {
  TrialData data;
  data.row.warmup = 1;
  for (int worker = 0; worker < 2; ++worker) {
    RankTrial rank{"worker", worker, {}, {}, {}};
    for (int step = 0; step < 4; ++step) {
      StepRow row{};
      row.step = step;
      row.samples = 8;
      row.loss = static_cast<float>(worker);
      row.begin_ns = step * 10'000'000;
      row.end_ns = row.begin_ns + (step == 0 ? 9'000'000 : 2'000'000);
      row.forward_ns = 1'000'000;
      row.bytes_out = row.bytes_in = 1'000'000;
      rank.steps.push_back(row);
    }
    data.ranks.push_back(rank);
  }
  return data;
}

/// With two servers that applied for 4 and for 2 ms over the four steps.
TrialData served_trial() {
  TrialData data = trial();
  for (int server = 0; server < 2; ++server) {
    LoadRow load{};
    load.apply_ns = server == 0 ? 4'000'000 : 2'000'000;
    data.ranks.push_back({"server", server, {}, {load}, {}});
  }
  return data;
}

TEST(Metrics, ImbalanceByHand) {
  const Imbalance even = imbalance(std::vector{2.0, 2.0, 2.0});
  EXPECT_DOUBLE_EQ(even.max_over_mean, 1.0);
  EXPECT_NEAR(even.gini, 0.0, 1e-12);
  const Imbalance one = imbalance(std::vector{0.0, 0.0, 0.0, 8.0});
  EXPECT_DOUBLE_EQ(one.max_over_mean, 4.0);
  EXPECT_DOUBLE_EQ(one.gini, 0.75);  // (n - 1) / n where one bears all.
  EXPECT_DOUBLE_EQ(one.cov, std::sqrt(3.0));
  EXPECT_DOUBLE_EQ(one.percent_imbalance, 300.0);
  // sum |xi - xj| over ordered pairs of {1, 3} is 4; 4 / (2 * 4 * 2) = 0.25.
  EXPECT_DOUBLE_EQ(imbalance(std::vector{1.0, 3.0}).gini, 0.25);
  EXPECT_DOUBLE_EQ(imbalance({}).max_over_mean, 1.0);
}

TEST(Metrics, PopFactorsMultiply) {
  const Pop p = pop(std::vector{4.0, 2.0}, 8.0);
  EXPECT_DOUBLE_EQ(p.load_balance, 0.75);
  EXPECT_DOUBLE_EQ(p.communication_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(p.parallel_efficiency, p.load_balance * p.communication_efficiency);
}

// POP's product holds over any ranks of the same time, so the efficiency of all is the mean over the ranks.
TEST(Metrics, PopByRoleAddsUpToThatOfAll) {
  const TrialData data = served_trial();
  const TrialSummary s = summarise(data);
  ASSERT_TRUE(s.server_pop.has_value());
  // Three measured steps of 2 ms: workers compute 1 ms of each, servers applied for 3/4 of 4 and of 2 ms.
  EXPECT_DOUBLE_EQ(s.worker_pop.load_balance, 1.0);
  EXPECT_DOUBLE_EQ(s.worker_pop.parallel_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(s.server_pop->load_balance, 0.75);
  EXPECT_DOUBLE_EQ(s.server_pop->communication_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(4 * s.pop.parallel_efficiency,
                   2 * s.worker_pop.parallel_efficiency + 2 * s.server_pop->parallel_efficiency);
  EXPECT_FALSE(summarise(trial()).server_pop.has_value());
  std::size_t by_role = 0;
  for (const SummaryRow& row : summary_rows(0, s))
    if (view(row.metric) == "parallel_efficiency") ++by_role;
  EXPECT_EQ(by_role, 3U) << "all, worker, server";
}

TEST(Metrics, BusBandwidthAsNcclTestsDefinesIt) {
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(8.0, 2.0), 4.0);
  EXPECT_DOUBLE_EQ(allreduce_bus_bandwidth(8.0, 2.0, 2), 4.0);
  EXPECT_DOUBLE_EQ(allreduce_bus_bandwidth(8.0, 2.0, 4), 6.0);
}

TEST(Metrics, WarmUpIsLeftOutOfTimings) {
  const TrialSummary s = summarise(trial());
  EXPECT_EQ(s.steps, 4);
  EXPECT_EQ(s.measured_steps, 3);
  EXPECT_DOUBLE_EQ(s.step_ms.median, 2.0);
  EXPECT_DOUBLE_EQ(s.images_per_s, 48.0 / 0.006);
  EXPECT_DOUBLE_EQ(s.phases_ms.forward, 1.0);
  EXPECT_DOUBLE_EQ(s.goodput_gb_per_s, 12e6 / 6e6);
  EXPECT_DOUBLE_EQ(s.loss, 0.5);
  EXPECT_TRUE(std::isnan(s.accuracy));
}

TEST(Metrics, OnlyStepsThatEveryWorkerCompletedCount) {
  TrialData data = trial();
  data.ranks[1].steps.pop_back();
  const TrialSummary s = summarise(data);
  EXPECT_EQ(s.steps, 3);
  EXPECT_DOUBLE_EQ(s.images_per_s, 32.0 / 0.004);
}

TEST(Metrics, AFastWorkerCountsAsFastWhileItRuns) {
  TrialData data = trial();
  for (RankTrial& rank : data.ranks)
    if (rank.role == "worker" && rank.role_index == 1)
      for (StepRow& row : rank.steps) row.end_ns = row.begin_ns + 1'000'000;
  const TrialSummary s = summarise(data);
  EXPECT_DOUBLE_EQ(s.images_per_s, 24.0 / 0.006 + 24.0 / 0.003);
  EXPECT_DOUBLE_EQ(s.step_ms.median, 1.5);
}

// With backup workers a worker skips steps.
TEST(Metrics, AStepIsTheMeanOfThoseWhoMadeIt) {
  TrialData data = trial();
  for (RankTrial& rank : data.ranks)
    if (rank.role == "worker" && rank.role_index == 1) rank.steps.erase(rank.steps.begin() + 2);
  const TrialSummary s = summarise(data);
  EXPECT_DOUBLE_EQ(s.step_ms.median, 2.0);
  EXPECT_DOUBLE_EQ(s.images_per_s, 24.0 / 0.006 + 16.0 / 0.004);
}

TEST(Metrics, ALossThatIsNoNumberMakesTheTrialDiverged) {
  TrialData data = trial();
  data.ranks[0].steps[3].loss = std::numeric_limits<float>::infinity();
  data.ranks[1].steps[2].loss = std::numeric_limits<float>::quiet_NaN();
  const TrialSummary s = summarise(data);
  EXPECT_TRUE(s.diverged);
  EXPECT_EQ(s.diverged_step, 2);
}

TEST(Metrics, WhatTheWorkersSawOfADivergenceSaysStepAndTensor) {
  TrialData data = trial();
  data.ranks[0].steps[3].loss = std::numeric_limits<float>::infinity();
  EXPECT_EQ(summarise(data).diverged_tensor, "the loss");
  data.final.diverged_step = 2;
  data.final.diverged_tensor = text<96>("fc3.bias");
  const TrialSummary s = summarise(data);
  EXPECT_EQ(s.diverged_step, 2);
  EXPECT_EQ(s.diverged_tensor, "fc3.bias");
}

/// With evaluations after 1, 2 and 3 steps, the last of which falls back.
TrialData evaluated(double target) {
  TrialData data = trial();
  data.ranks[0].steps[0].begin_ns = 500'000'000;
  data.evaluations = {
      {0, 1, 1'500'000'000, 1.0, 0.5}, {0, 2, 2'500'000'000, 0.5, 0.75}, {0, 3, 3'500'000'000, 0.6, 0.7}};
  data.final.target_accuracy = target;
  return data;
}

TEST(Metrics, TheTimeToATargetIsThatOfTheFirstEvaluationWithAtLeastThatAccuracy) {
  for (const double target : {0.7, 0.75}) {
    const Target found = time_to_target(evaluated(target));
    EXPECT_TRUE(found.reached());
    EXPECT_EQ(found.step, 2);
    EXPECT_DOUBLE_EQ(found.time_s, 2.0) << "nothing is interpolated";
  }
  EXPECT_DOUBLE_EQ(summarise(evaluated(0.5)).target.time_s, 1.0);
}

TEST(Metrics, ATargetThatIsNotReachedHasNoTime) {
  const Target missed = time_to_target(evaluated(0.76));
  EXPECT_FALSE(missed.reached());
  EXPECT_TRUE(std::isnan(missed.time_s));
  EXPECT_EQ(missed.accuracy, 0.76);
  EXPECT_EQ(time_to_target(evaluated(0.0)).accuracy, 0.0) << "none was asked for";
  EXPECT_FALSE(time_to_target(evaluated(0.0)).reached());
}

TEST(Metrics, WithoutATraceTheTimeToTheTargetIsTheOneKept) {
  TrialData data = evaluated(0.7);
  for (RankTrial& rank : data.ranks) rank.steps.clear();
  data.final.target_step = 7;
  data.final.time_to_target_s = 4.5;
  EXPECT_EQ(time_to_target(data).step, 7);
  EXPECT_EQ(time_to_target(data).time_s, 4.5);
}

TEST(Metrics, ServersAndStaleness) {
  TrialData data = trial();
  RankTrial server{"server", 0, {}, {}, {}};
  LoadRow load{};
  load.bytes_in = load.bytes_out = 300;
  load.pushes = load.applied = 3;
  load.busy_ns = 3'000'000'000;
  server.loads = {load, load};
  StalenessRow stale{};
  stale.count = 9;
  server.stalenesses = {stale};
  stale.staleness = 5;
  stale.count = 1;
  server.stalenesses.push_back(stale);
  data.ranks.push_back(server);
  RankTrial idle{"server", 1, {}, {LoadRow{}}, {}};
  data.ranks.push_back(idle);
  const TrialSummary s = summarise(data);
  ASSERT_EQ(s.server_load.size(), 2U);
  EXPECT_EQ(s.server_load[0].bytes_in, 600U);
  EXPECT_DOUBLE_EQ(s.server_load[0].busy_s, 6.0);
  EXPECT_DOUBLE_EQ(s.server_bytes.max_over_mean, 2.0);
  EXPECT_EQ(s.pushes, 6U);
  EXPECT_EQ(s.staleness.median, 0.0);
  EXPECT_EQ(s.staleness.p95, 5.0);
  EXPECT_EQ(s.staleness.max, 5);
}

}  // namespace
}  // namespace steelyard::trace
