// Ranks that no longer come on learn where the others stand, and a sentence says who is the matter.
#include "src/mpi/alarm.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "src/mpi/wait.hpp"
#include "tests/support/harness.hpp"

namespace steelyard::mpi {
namespace {

constexpr std::int64_t kLongNs = 60'000'000'000;
constexpr std::int64_t kShortNs = 200'000'000;

Standing standing(Step step, std::int64_t call, std::uint64_t elements, const char* reason = "") {
  Standing one{step, call, elements, "allreduce"};
  std::strncpy(one.reason, reason, sizeof one.reason - 1);
  return one;
}

TEST(Alarm, EveryRankHearsWhereAllStand) {
  const Communicator& world = test::launch().world;
  const Alarm alarm(world);
  EXPECT_FALSE(alarm.raised());
  barrier(world, Wait::yield);
  const auto all = alarm.exchange(standing(world.rank(), 10 + world.rank(), 5), kLongNs);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(world.size()));
  for (Rank rank = 0; rank < world.size(); ++rank) {
    const auto& one = all[static_cast<std::size_t>(rank)];
    ASSERT_TRUE(one) << rank;
    EXPECT_EQ(one->step, rank);
    EXPECT_EQ(one->call, 10 + rank);
    EXPECT_STREQ(one->name, "allreduce");
  }
  EXPECT_FALSE(alarm.raised()) << "nothing is left of it";
}

TEST(Alarm, OneThatDoesNotAnswerIsMissedAndHoldsUpNobody) {
  const Communicator& world = test::launch().world;
  const Alarm alarm(world);
  const Rank silent = world.size() - 1;
  if (world.rank() != silent) {
    const auto all = alarm.exchange(standing(3, 7, 100), kShortNs);
    for (Rank rank = 0; rank < world.size(); ++rank)
      EXPECT_EQ(all[static_cast<std::size_t>(rank)].has_value(), rank != silent) << rank;
  }
  barrier(world, Wait::yield);
  if (world.rank() == silent && world.size() > 1) {
    wait_until(Wait::yield, [&] { return alarm.raised(); });
    const auto all = alarm.exchange(standing(2, 6, 100), kLongNs);
    for (const auto& one : all) EXPECT_TRUE(one) << "they have all spoken before";
  }
  barrier(world, Wait::yield);
}

TEST(Alarm, SaysWhoIsTheMatter) {
  const auto fine = standing(7, 31, 4096);
  Standing echo = standing(7, 31, 4096, "remote process exited");
  echo.is_echo = true;
  EXPECT_EQ(explain({fine, echo, standing(7, 30, 12, "unhandled system error"), echo}, 60),
            "rank 2, step 7, call 30: allreduce of 12 elements: unhandled system error");
  EXPECT_EQ(explain({std::nullopt, echo}, 60),
            "rank 1, step 7, call 31: allreduce of 4096 elements: remote process exited");
  EXPECT_EQ(explain({fine, standing(7, 31, 4096, "remote process exited"), std::nullopt}, 60),
            "rank 1, step 7, call 31: allreduce of 4096 elements: remote process exited");
  EXPECT_EQ(
      explain({std::nullopt, fine, std::nullopt, fine}, 2.5),
      "rank 0, rank 2 did not come on within 2.5 s (--timeout); others wait in step 7, call 31: allreduce of "
      "4096 elements");
  EXPECT_EQ(explain({fine, fine, standing(7, 31, 4097)}, 60),
            "no progress for 60 s (--timeout): rank 2 is at step 7, call 31: allreduce of 4097 elements, "
            "others are "
            "at step 7, call 31: allreduce of 4096 elements");
  EXPECT_EQ(explain({fine, standing(6, 30, 4096)}, 60).substr(0, 64),
            "no progress for 60 s (--timeout): rank 1 is at step 6, call 30: ");
  EXPECT_EQ(
      explain({fine, fine}, 60),
      "no progress for 60 s (--timeout): all ranks wait in step 7, call 31: allreduce of 4096 elements");
}

}  // namespace
}  // namespace steelyard::mpi
