// A training whose values are no finite numbers any more is noticed, by the step and the tensor; in allreduce
// all workers end it at the same step.
#include "modes/divergence.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TrialConfig base() {
  TrialConfig config;
  config.global_batch = 24;
  config.steps = 20;
  config.evaluate_at_end = false;
  return config;
}

ModelSpec mlp() { return describe_model("mlp:784-37-19-10").value(); }

/// What goes wrong, once, in the step `step` of worker `worker`.
struct Fault {
  Step step;
  int worker;
  bool loss;        ///< The loss alone is no number.
  TensorId tensor;  ///< Else: whose gradient has one that is none.
};

class Faulty final : public Model {
 public:
  Faulty(std::unique_ptr<Model> model, Fault fault, int worker)
      : model_(std::move(model)), fault_(fault), here_(worker == fault.worker) {}

  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override {
    BatchResult result = model_->forward(batch, scale, parameters, observer);
    if (here_ && step_ == fault_.step && fault_.loss) result.loss_sum = static_cast<double>(kNaN);
    return result;
  }

  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override {
    class Spoiling final : public StepObserver {
     public:
      Spoiling(Parameters& all, StepObserver& next, TensorId tensor)
          : all_(all), next_(next), tensor_(tensor) {}
      void values_needed(TensorId) override {}
      void gradient_ready(TensorId id) override {
        if (id == tensor_) all_.gradient(id)[0] = kNaN;
        next_.gradient_ready(id);
      }

     private:
      Parameters& all_;
      StepObserver& next_;
      TensorId tensor_;
    };
    if (Spoiling spoiling(parameters, observer, fault_.tensor); here_ && step_ == fault_.step && !fault_.loss)
      model_->backward(batch, parameters, spoiling);
    else
      model_->backward(batch, parameters, observer);
    ++step_;
  }

 private:
  std::unique_ptr<Model> model_;
  Fault fault_;
  bool here_;
  Step step_ = 0;
};

ModelSpec faulty(const Fault& fault) {
  ModelSpec model = mlp();
  model.make = [make = model.make, fault](const ModelRequest& request) {
    return std::make_unique<Faulty>(make(request), fault, request.share.worker);
  };
  return model;
}

test::Outcome run(const TrialConfig& config, const ModelSpec& model) {
  return test::run_trial(config, model, test::small_dataset(model));
}

/// Steps of each worker, on rank 0; empty elsewhere.
std::vector<std::size_t> steps(const test::Outcome& outcome) {
  std::vector<std::size_t> counts;
  for (const trace::RankTrial& rank : outcome.ranks)
    if (!rank.steps.empty()) counts.push_back(rank.steps.size());
  return counts;
}

// A gradient that is no number in step 5 makes a value so that step 6 reads; its logits spoil the last
// tensor, which step 7 reads, and that is the last.
TEST(Divergence, AllWorkersOfAnAllreduceStopAtTheSameStep) {
  const int last = test::launch().world.size() - 1;
  for (const char* collective : {"auto", "mpi", "ring", "recursive", "shared"})
    for (const bool sharded : {false, true}) {
      TrialConfig config = test::allreduce(base(), collective);
      config.sharded_optimizer = sharded;
      const auto outcome = run(config, faulty({5, last, false, 2}));
      ASSERT_TRUE(outcome.divergence) << collective;
      EXPECT_EQ(outcome.divergence->step, 6) << collective;
      EXPECT_EQ(outcome.divergence->tensor, mlp().inventory[2].name) << collective;
      for (const std::size_t count : steps(outcome)) EXPECT_EQ(count, 8U) << collective << " " << sharded;
    }
}

TEST(Divergence, StopsSoonAfterARateThatIsTooGreat) {
  TrialConfig config = test::allreduce(base());
  config.optimizer = "sgd";
  config.optimizer_options.rate = 1e5F;
  config.steps = 1000;
  config.evaluate_at_end = true;
  config.evaluate_every = 300;  // Later than it ends.
  const auto outcome = run(config, mlp());
  ASSERT_TRUE(outcome.divergence);
  EXPECT_LT(outcome.divergence->step, 50);
  ASSERT_EQ(outcome.evaluations.size(), 1U);
  EXPECT_LT(outcome.evaluations[0].step, 52);
  for (const std::size_t count : steps(outcome)) EXPECT_LT(count, 52U);
}

TEST(Divergence, OfParameterServersIsTheSame) {
  if (test::launch().world.size() < 2) return;
  for (const char* consistency : {"bsp", "asp"}) {
    TrialConfig config = base();
    config.consistency = consistency;
    const auto outcome = run(config, faulty({5, 0, false, 2}));
    ASSERT_TRUE(outcome.divergence) << consistency;
    const bool bsp = config.consistency == "bsp";
    EXPECT_TRUE(bsp ? outcome.divergence->step == 6 : outcome.divergence->step <= 6) << consistency;
    // In asp another worker may read the tensor early, together with what the first one made of it.
    EXPECT_TRUE(!bsp || outcome.divergence->tensor == mlp().inventory[2].name) << outcome.divergence->tensor;
  }
}

// The others have not seen it, and who stops alone leaves them waiting.
TEST(Divergence, ALossThatOneWorkerAloneHasIsNotedAndStopsNobody) {
  const int last = test::launch().world.size() - 1;
  const auto outcome = run(test::allreduce(base()), faulty({5, last, true, 0}));
  ASSERT_TRUE(outcome.divergence);
  EXPECT_EQ(outcome.divergence->step, 5);
  EXPECT_EQ(outcome.divergence->tensor, kTheLoss);
  for (const std::size_t count : steps(outcome)) EXPECT_EQ(count, 20U);
}

// What the last step spoils no step reads.
TEST(Divergence, ValuesAtTheEndAreLookedAtToo) {
  const auto outcome = run(test::allreduce(base()), faulty({19, 0, false, 1}));
  ASSERT_TRUE(outcome.divergence);
  EXPECT_EQ(outcome.divergence->step, 20);
  EXPECT_EQ(outcome.divergence->tensor, mlp().inventory[1].name);
}

TEST(Divergence, IsNotSeenWhereThereIsNone) { EXPECT_FALSE(run(test::allreduce(base()), mlp()).divergence); }

TEST(Divergence, TheEarliestOfTheLowestRankIsAgreedOn) {
  const mpi::Communicator& world = test::launch().world;
  const auto mine = [&](Step step) { return Divergence{step, "of " + std::to_string(world.rank())}; };
  EXPECT_FALSE(earliest(world, std::nullopt));
  const auto same = earliest(world, mine(3));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->step, 3);
  EXPECT_EQ(same->tensor, "of 0");
  const auto descending = earliest(world, mine(world.size() - world.rank()));
  EXPECT_EQ(descending->step, 1);
  EXPECT_EQ(descending->tensor, "of " + std::to_string(world.size() - 1));
  const bool last = world.rank() == world.size() - 1;
  const auto alone = earliest(world, last ? std::optional(mine(0)) : std::nullopt);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->tensor, "of " + std::to_string(world.size() - 1));
}

}  // namespace
}  // namespace steelyard
