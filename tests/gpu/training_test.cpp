// The same training on CPU and GPU, and what replay finds there.
#include <gtest/gtest.h>

#include "src/cuda/stream.hpp"
#include "src/model/device.hpp"
#include "tests/support/harness.hpp"

namespace steelyard::test {
namespace {

TrialConfig one_worker(const char* optimizer, const char* device) {
  TrialConfig config = allreduce({});
  config.device = device;
  config.optimizer = optimizer;
  config.global_batch = 32;
  config.steps = 20;
  config.evaluate_every = 8;
  return config;
}

/// Products and convolutions sum in another order than the CPU: after 20 steps to 1e-4.
void check_training(const char* name, const char* optimizer) {
  const ModelSpec model = describe_model(name).value();
  const Dataset dataset = small_dataset(model);
  const Outcome cpu = run_trial(one_worker(optimizer, "cpu"), model, dataset);
  const Outcome gpu = run_trial(one_worker(optimizer, "cuda"), model, dataset);
  EXPECT_LT(distance(model, gpu.values, cpu.values), 1e-4) << name << ", " << optimizer;
  ASSERT_EQ(gpu.evaluations.size(), cpu.evaluations.size());
  ASSERT_EQ(gpu.evaluations.size(), 3U);
  for (std::size_t i = 0; i < gpu.evaluations.size(); ++i) {
    EXPECT_EQ(gpu.evaluations[i].step, cpu.evaluations[i].step);
    EXPECT_NEAR(gpu.evaluations[i].loss_sum, cpu.evaluations[i].loss_sum, 1e-4 * cpu.evaluations[i].loss_sum);
  }
}

TEST(Training, OnAGpuIsThatOfTheCpu) {
  check_training("lenet", "momentum");
  check_training("video_tagger", "sgd");
  check_training("mlp:784-64-10", "nesterov");
}

TEST(Training, EveryOptimizerHasItsUpdateThere) {
#define OPTIMIZER(name, help) check_training("mlp:784-10", #name);
#include "src/optim/optimizers.def"
#undef OPTIMIZER
}

TEST(Training, DivergesInTheSameStep) {
  const ModelSpec model = describe_model("mlp:784-10").value();
  const Dataset dataset = small_dataset(model);
  const auto divergence_on = [&](const char* device) {
    TrialConfig config = one_worker("sgd", device);
    config.optimizer_options.rate = 1e38F;
    return run_trial(config, model, dataset).divergence;
  };
  const auto cpu = divergence_on("cpu");
  const auto gpu = divergence_on("cuda");
  ASSERT_TRUE(cpu && gpu);
  EXPECT_EQ(gpu->step, cpu->step);
  EXPECT_EQ(gpu->tensor, cpu->tensor);
}

TEST(Replay, HasTheSameValuesAsItsTableUnderEveryOptimizer) {
  const ModelSpec model = describe_model("replay:googlenet").value();
  const Dataset dataset = small_dataset(model);
  // It looks at every value in every step, and ends the program where one is wrong.
#define OPTIMIZER(name, help)                                       \
  {                                                                 \
    TrialConfig config = one_worker(#name, "cuda");                 \
    config.evaluate_every = 0;                                      \
    EXPECT_NE(run_trial(config, model, dataset).hash, 0U) << #name; \
  }
#include "src/optim/optimizers.def"
#undef OPTIMIZER
}

class Silent final : public StepObserver {
 public:
  void values_needed(TensorId) override {}
  void gradient_ready(TensorId) override {}
};

/// A step whose update never happens, and the forward pass after it.
void replay_without_update() {
  const ModelSpec spec = describe_model("replay:lenet").value();
  const cuda::Stream stream;
  const auto memory = make_device_memory(stream);
  Parameters parameters(spec.inventory, packed_layout(spec.inventory), {{}, {}, memory.get()});
  parameters.initialise(0);
  ModelRequest request{.share = {0, 1}};
  request.stream = &stream;
  const auto model = spec.make(request);
  Silent silent;
  model->forward({1, {}, {}}, 1.0F, parameters, silent);
  model->backward({1, {}, {}}, parameters, silent);
  model->forward({1, {}, {}}, 1.0F, parameters, silent);
}

TEST(ReplayDeathTest, NamesTheFirstValueThatIsWrong) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(replay_without_update(), "before step 1 element 0 of 'conv1.weight' is 0.0");
}

TEST(Memory, ComesBackAsItWent) {
  const cuda::Stream stream;
  const auto memory = make_device_memory(stream);
  std::vector<float> values(1'000'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto there = memory->allocate(values.size());
  std::vector<float> back(values.size(), -1.0F);
  memory->read(there, back);
  EXPECT_EQ(back, std::vector<float>(values.size()));
  memory->write(values, there);
  memory->read(there, back);
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace steelyard::test
