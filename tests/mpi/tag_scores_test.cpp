// The mean average precision of an evaluation does not depend on how the test samples are divided.
#include "modes/tag_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "src/base/random.hpp"
#include "src/trace/average_precision.hpp"
#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

constexpr std::size_t kClasses = 10;

struct All {
  explicit All(std::size_t count) : scores(count * kClasses), tags(count) {
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = random_unit(1, 0, i);
    for (std::size_t i = 0; i < count; ++i)
      tags[i] = static_cast<std::uint16_t>(random_bits(2, 0, i) & random_bits(3, 0, i) & 0x3FFU);
  }
  std::vector<float> scores;
  std::vector<std::uint16_t> tags;
};

/// This rank's part, in batches of 4.
TagScores own_part(const All& all, const mpi::Communicator& workers) {
  const Part own = part_of(all.tags.size(), workers.rank(), workers.size());
  TagScores part;
  for (std::size_t begin = own.begin; begin < own.end; begin += 4) {
    const std::size_t count = std::min<std::size_t>(4, own.end - begin);
    Batch batch;
    batch.count = count;
    batch.tags = std::span(all.tags).subspan(begin, count);
    BatchResult result;
    result.scores = std::span(all.scores).subspan(begin * kClasses, count * kClasses);
    part.add(batch, result);
  }
  return part;
}

TEST(TagScores, PartsOfAllWorkersGiveThePrecisionOfTheWhole) {
  const mpi::Communicator& workers = test::launch().world;
  for (const std::size_t count : {50U, 3U, 1U}) {  // Less than a sample for each of 7 ranks, too.
    const All all(count);
    const double found = mean_average_precision(workers, own_part(all, workers), kClasses);
    if (workers.rank() != 0) {
      EXPECT_TRUE(std::isnan(found)) << "the first worker alone knows";
      continue;
    }
    const double wanted = trace::mean_average_precision(all.scores, all.tags, kClasses);
    EXPECT_TRUE(found == wanted || (std::isnan(found) && std::isnan(wanted))) << count << ": " << found;
    EXPECT_EQ(std::isnan(wanted), all.tags == std::vector<std::uint16_t>(count, 0)) << count;
  }
}

TEST(TagScores, AnEvaluationKeepsTheScoresOfItsPart) {
  const ModelSpec model = describe_model("video_tagger").value();
  const Dataset dataset = test::small_dataset(model, 20);
  TrialConfig config = test::allreduce({});
  config.global_batch = 10;
  config.steps = 2;
  const auto outcome = test::run_trial(config, model, dataset);
  const mpi::Communicator& world = test::launch().world;
  ASSERT_EQ(outcome.evaluations.size(), 1U);
  const TagScores& kept = outcome.evaluations.front().tag_scores;
  const Part own = part_of(dataset.test.count, world.rank(), world.size());
  EXPECT_EQ(kept.scores.size(), (own.end - own.begin) * model.classes);
  EXPECT_EQ(kept.tags, std::vector<std::uint16_t>(dataset.test.tags.begin() + static_cast<long>(own.begin),
                                                  dataset.test.tags.begin() + static_cast<long>(own.end)));
}

}  // namespace
}  // namespace steelyard
