// Who holds up the others, of trials made by hand.
#include "src/trace/straggler.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace steelyard::trace {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Compute in ms of a worker in a step.
using Compute = std::function<double(int worker, int step)>;

/// bsp of three workers, ranks 1 to 3 behind a server: all wait for the last push of each step. `link` in ms
/// is what a worker's push takes on its way.
TrialData bsp(
    int steps, const Compute& compute, const Compute& link = [](int, int) { return 0.0; }) {
  TrialData data;
  data.ranks.resize(4);
  data.ranks[0].role = "server";
  data.ranks[0].role_index = 0;
  for (int worker = 0; worker < 3; ++worker)
    data.ranks[static_cast<std::size_t>(worker) + 1] = {"worker", worker, {}, {}, {}};
  double begin = 0.0;
  for (int step = 0; step < steps; ++step) {
    int last = 0;
    const auto pushed = [&](int worker) { return compute(worker, step) + link(worker, step); };
    for (int worker = 1; worker < 3; ++worker)
      if (pushed(worker) > pushed(last)) last = worker;
    const double end = begin + pushed(last);
    for (int worker = 0; worker < 3; ++worker) {
      StepRow row{};
      row.step = step;
      row.begin_ns = static_cast<std::int64_t>(begin * kMs);
      row.forward_ns = static_cast<std::int64_t>(compute(worker, step) * kMs);
      row.end_ns = static_cast<std::int64_t>(end * kMs);
      row.wait_ns = row.end_ns - row.begin_ns - row.forward_ns;
      RankTrial& rank = data.ranks[static_cast<std::size_t>(worker) + 1];
      rank.steps.push_back(row);
      rank.reads.push_back({0, step, -1, row.wait_ns, worker == last ? -1 : last, 0});
    }
    begin = end;
  }
  return data;
}

TrialData without_reads(TrialData data) {
  for (RankTrial& rank : data.ranks) rank.reads.clear();
  return data;
}

TEST(Straggler, AWorkerThatComputesTwiceAsLong) {
  const auto found = find_straggler(bsp(500, [](int worker, int) { return worker == 2 ? 8.0 : 4.0; }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->worker, 2);
  EXPECT_EQ(found->rank, 3);
  EXPECT_EQ(found->reason, StragglerReason::compute);
  EXPECT_DOUBLE_EQ(found->compute_ratio, 2.0);
  EXPECT_DOUBLE_EQ(found->waited_for, 1.0);
  EXPECT_EQ(found->wait_share, 0.0);
  EXPECT_EQ(found->window_steps, 50);
  EXPECT_EQ(found->windows, 10);
  EXPECT_EQ(found->windows_led, 10);
  EXPECT_TRUE(found->chronic);
  EXPECT_TRUE(found->steps.empty());
}

TEST(Straggler, AWorkerBehindASlowLinkWaitsItself) {
  const auto even = [](int, int) { return 4.0; };
  const auto found = find_straggler(bsp(120, even, [](int worker, int) { return worker == 1 ? 4.0 : 1.0; }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->worker, 1);
  EXPECT_EQ(found->reason, StragglerReason::wait);
  EXPECT_DOUBLE_EQ(found->compute_ratio, 1.0);
  EXPECT_DOUBLE_EQ(found->wait_share, 0.5);
  EXPECT_NEAR(found->waited_for, 2.0 / 3.0, 1e-12) << "the rest of the waiting is its own";
  EXPECT_EQ(found->window_steps, 12);
  EXPECT_EQ(found->windows_led, 10);
  EXPECT_TRUE(found->chronic);
}

TEST(Straggler, AWorkerALittleSlowerIsSlowItselfUnlessItWaitsMoreThanTheOthers) {
  TrialData data = bsp(120, [](int worker, int) { return worker == 2 ? 4.2 : 4.0; });
  auto found = find_straggler(data);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->worker, 2);
  EXPECT_EQ(found->reason, StragglerReason::compute);
  EXPECT_NEAR(found->compute_ratio, 1.05, 1e-9);
  for (StepRow& row : data.ranks[3].steps) row.wait_ns = 1 * kMs;
  found = find_straggler(data);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reason, StragglerReason::wait);
}

TEST(Straggler, OneHiccupIsNamedByItsStep) {
  const Compute compute = [](int worker, int step) {
    return worker == 0 && step == 57 ? 4000.0 : 4.0 + (step + worker) % 3;
  };
  for (const TrialData& data : {bsp(200, compute), without_reads(bsp(200, compute))}) {
    const auto found = find_straggler(data);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->worker, 0);
    EXPECT_EQ(found->reason, StragglerReason::compute);
    EXPECT_GT(found->compute_ratio, 4.0) << "of means: 4000 ms over 200 steps";
    EXPECT_FALSE(found->chronic);
    EXPECT_EQ(found->windows, 10);
    EXPECT_LE(found->windows_led, 2);
    EXPECT_EQ(found->steps, std::vector<std::int64_t>{57});
  }
}

TEST(Straggler, InAspComputeAloneDecides) {
  TrialData data = bsp(300, [](int worker, int) { return worker == 1 ? 6.0 : 4.0; });
  for (RankTrial& rank : data.ranks)
    for (ReadRow& row : rank.reads) row = {0, row.step, -1, 1 * kMs, -1, 0};
  const auto found = find_straggler(data);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->worker, 1);
  EXPECT_DOUBLE_EQ(found->compute_ratio, 1.5);
  EXPECT_EQ(found->waited_for, 0.0);
}

TEST(Straggler, NobodyWhereTurnsAreTakenOrThereIsNobodyElse) {
  const auto turns = [](int worker, int step) { return step % 3 == worker ? 5.0 : 4.0; };
  EXPECT_FALSE(find_straggler(bsp(300, turns)));
  EXPECT_FALSE(find_straggler(bsp(300, [](int, int) { return 4.0; })));
  EXPECT_FALSE(find_straggler({}));
  TrialData alone = bsp(300, [](int worker, int) { return worker == 0 ? 9.0 : 4.0; });
  alone.ranks.resize(2);
  EXPECT_FALSE(find_straggler(alone));
}

TEST(Straggler, TheWarmUpDoesNotCount) {
  TrialData data = bsp(200, [](int worker, int step) { return worker == 2 && step < 20 ? 900.0 : 4.0; });
  EXPECT_TRUE(find_straggler(data));
  data.row.warmup = 20;
  EXPECT_FALSE(find_straggler(data));
  EXPECT_EQ(wait_summary(data).share, 0.0);
}

TEST(Waiting, SharesPerWorkerAndForWhom) {
  const WaitSummary wait = wait_summary(bsp(100, [](int worker, int) { return 2.0 + 2.0 * worker; }));
  ASSERT_EQ(wait.by_worker.size(), 3U);
  EXPECT_NEAR(wait.by_worker[0], 4.0 / 6.0, 1e-12);
  EXPECT_NEAR(wait.by_worker[1], 2.0 / 6.0, 1e-12);
  EXPECT_EQ(wait.by_worker[2], 0.0);
  EXPECT_NEAR(wait.share, 6.0 / 18.0, 1e-12);
  EXPECT_EQ(wait.waited_for, (std::vector<double>{0.0, 0.0, 1.0}));
}

TEST(Waiting, WithoutReadsNobodyIsNamed) {
  const WaitSummary wait =
      wait_summary(without_reads(bsp(100, [](int worker, int) { return 2.0 + worker; })));
  EXPECT_GT(wait.share, 0.0);
  EXPECT_TRUE(wait.waited_for.empty());
}

TEST(Waiting, AnIndexThatOnlyABadFileHoldsIsNobody) {
  TrialData data = bsp(100, [](int worker, int) { return 2.0 + worker; });
  for (ReadRow& row : data.ranks[1].reads) row.waited_for = 1'000'000'000;
  const WaitSummary wait = wait_summary(data);
  EXPECT_NEAR(wait.waited_for[2], 1.0 / 3.0, 1e-12)
      << "worker 1 waits 1 ms a step, worker 0 waits 2 for nobody";
}

}  // namespace
}  // namespace steelyard::trace
