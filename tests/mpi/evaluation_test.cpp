// Evaluations on the way are made after the last step, of copies of the values; they are those of a training
// that ends at that step.
#include "modes/evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/harness.hpp"
#include "tests/support/reordered.hpp"

namespace steelyard {
namespace {

constexpr Step kEvery = 7;

ModelSpec mlp() { return describe_model("mlp:784-37-19-10").value(); }

TrialConfig base() {
  TrialConfig config;
  config.global_batch = 24;
  config.steps = 23;
  config.deterministic = true;
  config.optimizer_options.rate = 0.01F;
  return config;
}

struct Figures {
  Step step;
  double loss, correct, count;
};

/// Collective: the evaluations of all workers together.
std::vector<Figures> figures(const test::Outcome& outcome) {
  const mpi::Communicator& world = test::launch().world;
  std::vector<Figures> all(
      static_cast<std::size_t>(mpi::greatest(world, static_cast<std::int64_t>(outcome.evaluations.size()))));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool works = i < outcome.evaluations.size();
    const EvaluationPart part = works ? outcome.evaluations[i] : EvaluationPart{};
    all[i] = {mpi::greatest(world, part.step), mpi::sum(world, part.loss_sum), mpi::sum(world, part.correct),
              mpi::sum(world, part.count)};
  }
  return all;
}

void expect_as_if_ended(TrialConfig config, const ModelSpec& model, int nodes, const std::string& what) {
  const Dataset dataset = test::small_dataset(model);
  const auto run = [&](const TrialConfig& one) {
    return figures(test::run_trial(
        one, model, dataset, [](Step) {}, test::pretend_nodes(nodes)));
  };
  config.evaluate_every = kEvery;
  const auto found = run(config);
  ASSERT_EQ(found.size(), 4U) << what;  // After 7, 14, 21 and 23 steps.
  config.evaluate_every = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Step steps = i < 3 ? kEvery * static_cast<Step>(i + 1) : config.steps;
    TrialConfig ended = config;
    ended.steps = steps;
    const auto wanted = run(ended);
    ASSERT_EQ(wanted.size(), 1U);
    EXPECT_EQ(found[i].step, steps) << what;
    EXPECT_EQ(found[i].loss, wanted[0].loss) << what << " after " << steps;
    EXPECT_EQ(found[i].correct, wanted[0].correct) << what << " after " << steps;
    EXPECT_EQ(found[i].count, static_cast<double>(dataset.test.count)) << what;
  }
  EXPECT_NE(found[0].loss, found[3].loss) << "there is something to tell apart";
}

TEST(Evaluation, OfCopiesIsThatOfATrainingWhichEndsThere) {
  for (const char* collective : {"auto", "ring"})
    for (const bool sharded : {false, true}) {
      TrialConfig config = test::allreduce(base(), collective);
      config.sharded_optimizer = sharded;
      expect_as_if_ended(config, mlp(), 1, collective);
    }
  if (test::launch().world.size() < 2) return;
  for (const test::Way& way : test::kWays) {
    TrialConfig config = base();
    config.transport = way.transport;
    config.aggregate = way.aggregate;
    expect_as_if_ended(config, mlp(), way.nodes, way.transport);
  }
}

// The copies are of tensors, wherever these lie in the arena.
TEST(Evaluation, DoesNotMindThatBucketsAreRebuilt) {
  TrialConfig config = test::allreduce(base(), "ring");
  config.first_bucket_bytes = 2048;
  config.bucket_bytes = 16384;
  expect_as_if_ended(config, test::reordered(mlp()), 1, "rebuilt");
}

TEST(Evaluation, InAspEverySampleIsSeenOnceWithOneCopy) {
  if (test::launch().world.size() < 2) return;
  TrialConfig config = base();
  config.consistency = "asp";
  config.deterministic = false;
  config.evaluate_every = kEvery;
  const Dataset dataset = test::small_dataset(mlp());
  const auto found = figures(test::run_trial(config, mlp(), dataset));
  ASSERT_EQ(found.size(), 4U);
  for (const Figures& one : found) EXPECT_EQ(one.count, static_cast<double>(dataset.test.count));
}

/// Notes whether a pass trains.
class Noting final : public Model {
 public:
  Noting(std::unique_ptr<Model> model, std::vector<bool>& trains)
      : model_(std::move(model)), trains_(trains) {}
  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override {
    trains_.push_back(scale > 0.0F);
    return model_->forward(batch, scale, parameters, observer);
  }
  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override {
    model_->backward(batch, parameters, observer);
  }

 private:
  std::unique_ptr<Model> model_;
  std::vector<bool>& trains_;
};

TEST(Evaluation, BeginsAfterTheLastStep) {
  std::vector<bool> trains;
  ModelSpec model = mlp();
  model.make = [make = model.make, &trains](const ModelRequest& request) {
    return std::make_unique<Noting>(make(request), trains);
  };
  TrialConfig config = test::allreduce(base());
  config.evaluate_every = 1;
  const auto outcome = test::run_trial(config, model, test::small_dataset(model));
  ASSERT_EQ(outcome.evaluations.size(), static_cast<std::size_t>(config.steps));
  const auto first = std::ranges::find(trains, false);
  EXPECT_EQ(first - trains.begin(), config.steps);
  EXPECT_EQ(std::count(first, trains.end(), true), 0);
  if (test::launch().world.rank() != 0) return;  // Times are those of worker 0.
  for (std::size_t i = 1; i < outcome.evaluations.size(); ++i)
    EXPECT_GE(outcome.evaluations[i].time_ns, outcome.evaluations[i - 1].time_ns);
}

}  // namespace
}  // namespace steelyard
