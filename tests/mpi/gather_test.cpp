// What every rank recorded of drops and reads is on rank 0 after the trial.
#include <gtest/gtest.h>

#include "tests/support/harness.hpp"

namespace steelyard::trace {
namespace {

TEST(Gather, DropsAndReadsOfEveryRank) {
  const mpi::Communicator& world = steelyard::test::launch().world;
  const int rank = world.rank();
  Recorder recorder;
  recorder.begin_trial(0, 10, world.size());
  // The number of rows differs from rank to rank; rank 0 has none of either.
  for (int i = 0; i < rank; ++i) {
    recorder.add(DropRow{0, i, i, 4, 2, 100, DropReason::late});
    recorder.add(DropRow{0, i, i, 5, 2, 100, DropReason::late});
    recorder.add(ReadRow{0, i, 1, 10 * rank, -1, rank});
    recorder.add(ReadRow{0, i, 2, 10 * rank, -1, i});
  }
  const auto ranks = gather_trial(world, recorder);
  if (rank != 0) {
    EXPECT_TRUE(ranks.empty());
    return;
  }
  ASSERT_EQ(ranks.size(), static_cast<std::size_t>(world.size()));
  for (int other = 0; other < world.size(); ++other) {
    const RankTrial& one = ranks[static_cast<std::size_t>(other)];
    ASSERT_EQ(one.drops.size(), static_cast<std::size_t>(other));
    ASSERT_EQ(one.reads.size(), static_cast<std::size_t>(other));
    for (int i = 0; i < other; ++i) {
      const auto place = static_cast<std::size_t>(i);
      EXPECT_EQ(one.drops[place].worker, i);
      EXPECT_EQ(one.drops[place].reason, DropReason::late);
      EXPECT_EQ(one.drops[place].pushes, 2U);
      EXPECT_EQ(one.reads[place].step, i);
      EXPECT_EQ(one.reads[place].wait_ns, 20 * other);
      EXPECT_EQ(one.reads[place].skew, other);
    }
  }
}

}  // namespace
}  // namespace steelyard::trace
