#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "src/model/model.hpp"
#include "src/model/pattern.hpp"
#include "tests/support/watcher.hpp"

namespace steelyard {
namespace {

/// What workers and one optimizer make of the pattern, element by element.
class World {
 public:
  World(int workers, const char* optimizer, std::size_t elements)
      : optimizer_(std::move(make_optimizer(optimizer, {})).value()),
        values(elements),
        state_(elements * optimizer_->state_per_element()) {
    for (int worker = 0; worker < workers; ++worker)
      patterns.emplace_back(worker, workers, std::move(make_optimizer(optimizer, {})).value());
  }

  void step(TensorId tensor) {
    std::vector<float> sum(values.size());
    std::vector<float> gradient(values.size());
    for (Pattern& pattern : patterns) {
      pattern.fill(tensor, gradient);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
      pattern.advance();
    }
    optimizer_->apply({values, sum, values, state_, ++steps_});
  }

 private:
  std::unique_ptr<Optimizer> optimizer_;

 public:
  std::vector<Pattern> patterns;
  std::vector<float> values;

 private:
  std::vector<float> state_;
  std::int64_t steps_ = 0;
};

class Exact : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, Exact,
                         testing::Values("sgd", "momentum", "nesterov", "adagrad", "adam"));

TEST_P(Exact, EveryWorkerKnowsEveryValueBitForBit) {
  constexpr std::size_t kElements = 3 * 4267 + 13;  // Ends within a table, and in no whole vector.
  World world(5, GetParam(), kElements);
  for (int step = 0; step < 50; ++step) {
    world.step(3);
    for (const Pattern& pattern : world.patterns)
      ASSERT_EQ(pattern.first_wrong(3, world.values), std::nullopt);
    ASSERT_EQ(Pattern::first_uneven(world.values), std::nullopt);
  }
}

TEST_P(Exact, OneWrongBitAnywhereIsFound) {
  World world(2, GetParam(), 5000);
  for (int step = 0; step < 3; ++step) world.step(1);
  for (const std::size_t element : {0UL, 250UL, 251UL, 4266UL, 4267UL, 4999UL}) {
    std::vector<float> values = world.values;
    values[element] = std::nextafter(values[element], 1e9F);
    EXPECT_EQ(world.patterns[1].first_wrong(1, values), element);
    EXPECT_TRUE(Pattern::first_uneven(values).has_value()) << element;
  }
}

TEST(Pattern, AMissingWorkerAStaleStepAndAShiftAreFound) {
  World world(3, "momentum", 2000);
  world.step(0);
  const std::vector<float> stale = world.values;
  world.step(0);
  EXPECT_TRUE(world.patterns[0].first_wrong(0, stale).has_value());
  std::vector<float> shifted(world.values.begin() + 1, world.values.end());
  EXPECT_TRUE(world.patterns[0].first_wrong(0, shifted).has_value());
  World without(2, "momentum", 2000);
  without.step(0);
  without.step(0);
  EXPECT_TRUE(world.patterns[0].first_wrong(0, without.values).has_value());
}

TEST(Pattern, SumsOfTheMostWorkersAreWholeNumbersThatFloatsHold) {
  EXPECT_GE(Pattern::most_workers(), 100'000);
  EXPECT_LE(static_cast<double>(Pattern::most_workers()) * 7 * 8, 16777216.0);
}

using test::Watcher;

struct Fixture {
  explicit Fixture(Emulation emulation)
      : spec(describe_model("replay:mnist-fc").value()),
        parameters(spec.inventory, packed_layout(spec.inventory)) {
    parameters.initialise(1);
    ModelRequest request{.max_batch = 8};
    request.emulation = std::move(emulation);
    model = spec.make(request);
  }
  void step(std::size_t samples) {
    const Batch batch{samples, {}, {}};
    model->forward(batch, 1.0F, parameters, watcher);
    model->backward(batch, parameters, watcher);
  }

  ModelSpec spec;
  Parameters parameters;
  std::unique_ptr<Model> model;
  Watcher watcher;
};

using ReplayDeathTest = testing::Test;

TEST(ReplayDeathTest, DiesOfAValueThatIsNotTheUpdatesAndNamesIt) {
  Fixture f({});
  f.step(8);  // Nobody updates the values, so the next forward pass finds the old ones.
  EXPECT_DEATH(f.step(8), "before step 1 element 0 of 'W1' is 0.0+, expected");
}

TEST(Replay, WalksForwardInOrderAndBackwardInReverse) {
  Fixture f({});
  f.step(8);
  std::vector<TensorId> order(8);
  std::iota(order.begin(), order.end(), 0U);
  EXPECT_EQ(f.watcher.needed, order);
  std::ranges::reverse(order);
  EXPECT_EQ(f.watcher.ready, order);
}

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

TEST(Replay, SleepTakesTheTimeAndLeavesTheCore) {
  Fixture f({.compute_ms = 60.0});
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_ms();
  f.step(8);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took.count(), 59.0);
  EXPECT_LT(cpu_ms() - cpu, 30.0);
}

TEST(Replay, QuotaDoesRealWorkForThatLong) {
  Fixture f({.compute_ms = 60.0, .compute = "quota"});
  const double cpu = cpu_ms();
  f.step(8);
  EXPECT_GE(cpu_ms() - cpu, 59.0);
}

TEST(Replay, ComputeGrowsWithTheSamplesThatItIsFor) {
  Fixture f({.compute_ms = 40.0, .samples = 4, .compute = "quota"});
  const double cpu = cpu_ms();
  f.step(8);
  EXPECT_GE(cpu_ms() - cpu, 79.0);
}

TEST(Emulation, SplitsComputeByOperationsOneThirdForward) {
  const Inventory inventory = {{"a", {2}}, {"b", {2}}};
  const auto plan = plan_compute({.compute_ms = 12.0}, inventory, {1.0, 3.0}).value();
  EXPECT_DOUBLE_EQ(plan.forward_ns[0], 1e6);
  EXPECT_DOUBLE_EQ(plan.forward_ns[1], 3e6);
  EXPECT_DOUBLE_EQ(plan.backward_ns[1], 6e6);
}

/// A file that is there as long as the object.
class File {
 public:
  explicit File(const std::string& text)
      : path(std::filesystem::temp_directory_path() /
             ("steelyard-replay-test-" + std::to_string(::getpid()) + ".csv")) {
    std::ofstream(path) << text;
  }
  ~File() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

TEST(Emulation, TakesAProfileOfEveryTensorInOrder) {
  const Inventory inventory = {{"a", {2}}, {"b", {2}}};
  const auto plan_of = [&](const std::string& text) {
    const File file(text);
    return plan_compute({.profile = file.path.string()}, inventory, {1.0, 1.0});
  };
  const std::string head = "name,forward_ms,backward_ms\n";
  EXPECT_DOUBLE_EQ(plan_of(head + "a,1,2\nb,3,4\n").value().backward_ns[1], 4e6);
  EXPECT_NE(plan_of(head + "b,1,2\na,3,4\n").error().message.find("row 1 is 'b', expected 'a'"),
            std::string::npos);
  EXPECT_NE(plan_of(head + "a,1,2\n").error().message.find("has 1 rows, the model 2"), std::string::npos);
  EXPECT_NE(plan_of(head + "a,1,-2\nb,1,1\n").error().message.find("must be from 0"), std::string::npos);
  EXPECT_NE(plan_of("name,ms\na,1\n").error().message.find("cannot be read"), std::string::npos);
  EXPECT_FALSE(plan_compute({.profile = "/nowhere.csv"}, inventory, {1.0, 1.0}));
}

}  // namespace
}  // namespace steelyard
