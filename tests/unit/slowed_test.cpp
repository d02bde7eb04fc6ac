#include "modes/slowed.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "modes/ps/apply_delay.hpp"

namespace steelyard {
namespace {

constexpr double kMs = 1e6;

std::int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

/// Two tensors whose layers take two milliseconds each way, without letting messages move.
class TwoLayers final : public Model {
 public:
  BatchResult forward(const Batch&, float, Parameters&, StepObserver& observer) override {
    for (const TensorId id : {0U, 1U}) {
      observer.values_needed(id);
      compute();
    }
    return {3.0, 2};
  }
  void backward(const Batch&, Parameters&, StepObserver& observer) override {
    for (const TensorId id : {1U, 0U}) {
      compute();
      observer.gradient_ready(id);
    }
  }
  std::int64_t computed_ns = 0;  ///< As it was, on this machine at this time.

 private:
  void compute() {
    const std::int64_t begin_ns = now_ns();
    ComputeClock clock(Compute::sleep);
    clock.begin();
    clock.end(2 * kMs);
    computed_ns += now_ns() - begin_ns;
  }
};

/// Writes down what it is told, and takes its own time over it.
class Listener final : public StepObserver {
 public:
  void values_needed(TensorId id) override { note("v" + std::to_string(id)); }
  void gradient_ready(TensorId id) override { note("g" + std::to_string(id)); }
  void progress() override { ++chances; }

  std::vector<std::string> calls;
  int chances = 0;
  std::int64_t own_ns = 0;

 private:
  void note(std::string call) {
    const std::int64_t begin_ns = now_ns();
    calls.push_back(std::move(call));
    ComputeClock clock(Compute::sleep);
    clock.begin();
    clock.end(5 * kMs);
    own_ns += now_ns() - begin_ns;
  }
};

struct Timed {
  double computed_ms = 0.0;
  double slept_ms = 0.0;  ///< What neither the model nor who listens to it needed.
  Listener listener;
};

Timed run(double factor, float scale) {
  auto inner = std::make_unique<TwoLayers>();
  const TwoLayers& model = *inner;
  SlowedModel slowed(std::move(inner), {[factor] { return factor; }, kMs, false});
  const Inventory nothing;
  Parameters none(nothing, packed_layout(nothing));
  Timed timed;
  const std::int64_t begin_ns = now_ns();
  EXPECT_EQ(slowed.forward({}, scale, none, timed.listener).correct, 2U);
  if (scale != 0.0F) slowed.backward({}, none, timed.listener);
  timed.computed_ms = static_cast<double>(model.computed_ns) / kMs;
  timed.slept_ms = static_cast<double>(now_ns() - begin_ns - timed.listener.own_ns) / kMs - timed.computed_ms;
  return timed;
}

// What it sleeps too little, at most 0.2 ms in each of six stretches, it would make good later. Upper bounds
// are generous: a busy machine wakes sleepers late.
TEST(SlowedModel, TakesFactorTimesAsLongAsTheModelAndNotAsThoseItTells) {
  const Timed timed = run(3.0, 1.0F);
  EXPECT_EQ(timed.listener.calls, (std::vector<std::string>{"v0", "v1", "g1", "g0"}));
  EXPECT_GE(timed.slept_ms, 2.0 * timed.computed_ms - 1.3);
  EXPECT_LE(timed.slept_ms, 2.0 * timed.computed_ms + 20.0);
}

TEST(SlowedModel, LetsMessagesMoveWhileItSleeps) {
  const Timed timed = run(5.0, 1.0F);
  // Each of four layers sleeps 8 ms in grains of 1 ms.
  EXPECT_GE(timed.listener.chances, 4 * 7);
}

TEST(SlowedModel, LeavesPassesWithoutGradientAsTheyAre) {
  const Timed timed = run(100.0, 0.0F);
  EXPECT_EQ(timed.listener.calls, (std::vector<std::string>{"v0", "v1"}));
  EXPECT_EQ(timed.listener.chances, 0);
  EXPECT_LT(timed.slept_ms, 100.0) << "99 times 4 ms would be four times that";
}

/// Real work of about `ms` of CPU time.
void work(double ms) {
  ComputeClock clock(Compute::quota);
  clock.begin();
  clock.end(ms * kMs);
}

TEST(ApplyDelay, IsFactorMinusOneTimesTheCpuTime) {
  ps::ApplyDelay delay(3.0);
  const std::int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  delay.begin();
  work(3.0);
  const std::int64_t begin_ns = now_ns();
  const std::int64_t told_ns = delay.end();
  const std::int64_t slept_ns = now_ns() - begin_ns;
  const std::int64_t all_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
  EXPECT_GE(told_ns, static_cast<std::int64_t>(2 * 3.0 * kMs));
  EXPECT_LE(told_ns, 2 * all_cpu_ns);
  EXPECT_GE(slept_ns, told_ns - 200'000);
}

TEST(ApplyDelay, AddsUpDelaysThatAreTooShortToSleep) {
  ps::ApplyDelay delay(2.0);
  std::int64_t told_ns = 0;
  std::int64_t slept_ns = 0;
  for (int i = 0; i < 1000; ++i) {
    delay.begin();
    work(0.005);
    const std::int64_t begin_ns = now_ns();
    told_ns += delay.end();
    slept_ns += now_ns() - begin_ns;
  }
  EXPECT_GE(told_ns, 5'000'000);
  EXPECT_GE(slept_ns, told_ns - 300'000);
}

TEST(ApplyDelay, OfOneDoesNothing) {
  ps::ApplyDelay delay(1.0);
  delay.begin();
  work(1.0);
  EXPECT_EQ(delay.end(), 0);
}

}  // namespace
}  // namespace steelyard
