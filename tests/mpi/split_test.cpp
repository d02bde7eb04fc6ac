// The two halves of an allreduce: slices are a partition, own sums are exact, and values reach every rank.
#include "src/collective/split.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <thread>
#include <vector>

#include "src/base/random.hpp"
#include "src/collective/pipelined_split.hpp"
#include "src/mpi/wait.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/summands.hpp"

namespace steelyard {
namespace {

const std::vector<std::size_t> kCounts = {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 64, 513, 1000, 100'001};

using test::sum_of_summands;
using test::summand;

struct Pairs {
  std::vector<std::vector<float>> summands;
  std::vector<std::vector<float>> values;
  std::vector<OwnSlice> own;

  /// Collective.
  Pairs(SplitCollective& collective, const std::vector<std::size_t>& counts) {
    for (const std::size_t count : counts) {
      summands.emplace_back(count);
      values.emplace_back(count);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) own.push_back(collective.add(summands[i], values[i]));
  }
  int size() const { return static_cast<int>(own.size()); }
};

void wait_for(SplitCollective& collective, int number) {
  mpi::wait_until(test::launch().wait, [&] { return collective.test(number); });
}

/// What a sharded optimizer does: the own slice of the sums, doubled, becomes the values.
/// @return elements of it that are not the sum.
std::size_t update(Pairs& pairs, int number, int round) {
  const auto n = static_cast<std::size_t>(number);
  std::size_t wrong = 0;
  for (std::size_t i = pairs.own[n].begin; i < pairs.own[n].end; ++i) {
    if (pairs.summands[n][i] != sum_of_summands(i, test::launch().world.size(), round)) ++wrong;
    pairs.values[n][i] = 2.0F * pairs.summands[n][i];
  }
  return wrong;
}

/// Collective: one round, all pairs under way at a time. A rank that is `late` waits for each gather before
/// it notices the next sum, the others for none, so halves interleave differently.
/// @return sums and values that are not as they should be. Nobody may leave earlier: others would wait.
std::size_t one_round(SplitCollective& collective, Pairs& pairs, int round, bool late) {
  const mpi::Communicator& world = test::launch().world;
  for (auto& summands : pairs.summands)
    for (std::size_t i = 0; i < summands.size(); ++i) summands[i] = summand(i, world.rank(), round);
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::size_t wrong = 0;
  for (int n = 0; n < pairs.size(); ++n) collective.start_reduce_scatter(n);
  for (int n = 0; n < pairs.size(); ++n) {
    wait_for(collective, n);
    wrong += update(pairs, n, round);
    collective.start_allgather(n);
    if (late) wait_for(collective, n);
  }
  for (int n = 0; n < pairs.size(); ++n) wait_for(collective, n);
  for (const auto& values : pairs.values)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 2.0F * sum_of_summands(i, world.size(), round)) ++wrong;
  return wrong;
}

/// Collective. Each rank is late in turn.
void expect_exact(SplitCollective& collective) {
  const mpi::Communicator& world = test::launch().world;
  Pairs pairs(collective, kCounts);
  std::size_t wrong = 0;
  for (int round = 0; round < 2 * world.size() + 1; ++round)
    wrong += one_round(collective, pairs, round, round % world.size() == world.rank());
  EXPECT_EQ(wrong, 0U);
}

class EverySplit : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Split, EverySplit, testing::Values("mpi", "ring", "recursive"));

TEST_P(EverySplit, SumsAndGathersExactlyWhoeverIsLate) {
  expect_exact(*make_split_collective(GetParam(), test::launch().world).value());
}

TEST_P(EverySplit, IsExactInANarrowWireWhereSumsHaveFewBits) {
  expect_exact(*make_split_collective(GetParam(), test::launch().world, {Wire::fp16}).value());
}

TEST_P(EverySplit, SlicesOfAllRanksAreAPartition) {
  const mpi::Communicator& world = test::launch().world;
  const auto collective = std::move(make_split_collective(GetParam(), world)).value();
  Pairs pairs(*collective, kCounts);
  for (std::size_t n = 0; n < kCounts.size(); ++n) {
    EXPECT_LE(pairs.own[n].begin, pairs.own[n].end);
    EXPECT_LE(pairs.own[n].end, kCounts[n]);
    for (std::size_t i = 0; i < std::min(kCounts[n], std::size_t{64}); ++i) {
      const bool mine = pairs.own[n].begin <= i && i < pairs.own[n].end;
      EXPECT_EQ(mpi::sum(world, mine ? 1.0 : 0.0), 1.0) << "element " << i << " of " << kCounts[n];
    }
    const auto held = static_cast<double>(pairs.own[n].end - pairs.own[n].begin);
    EXPECT_EQ(mpi::sum(world, held), static_cast<double>(kCounts[n]));
    const std::size_t fair = kCounts[n] / static_cast<std::size_t>(world.size());
    EXPECT_LE(held, static_cast<double>(2 * fair + 4)) << "no rank holds far more than its part";
  }
}

// Values keep all their bits whatever the wire of the summands.
TEST_P(EverySplit, ValuesTravelInSinglePrecision) {
  const mpi::Communicator& world = test::launch().world;
  const auto collective = std::move(make_split_collective(GetParam(), world, {Wire::bf16})).value();
  Pairs pairs(*collective, {1001});
  for (std::size_t i = pairs.own[0].begin; i < pairs.own[0].end; ++i)
    pairs.values[0][i] = random_unit(1, 2, i);
  collective->start_allgather(0);
  wait_for(*collective, 0);
  for (std::size_t i = 0; i < 1001; ++i) ASSERT_EQ(pairs.values[0][i], random_unit(1, 2, i));
}

// Segments of a few elements, so that windows go round and messages overtake each other.
TEST(PipelinedSplit, IsExactInManySegments) {
  for (const SplitPlan* plan : {&kRingSplit, &kRecursiveSplit}) {
    PipelinedSplit split(test::launch().world, *plan, Wire::fp32, 1000);
    expect_exact(split);
  }
}

// The same numbers added in the same order.
TEST(PipelinedSplit, SumsHaveTheBitsOfTheWholeAllreduce) {
  const mpi::Communicator& world = test::launch().world;
  for (const char* name : {"ring", "recursive"}) {
    const auto whole = std::move(make_collective(name, world)).value();
    const auto split = std::move(make_split_collective(name, world)).value();
    Pairs pairs(*split, kCounts);
    std::vector<std::vector<float>> sums;
    for (const std::size_t count : kCounts) sums.emplace_back(count);
    for (std::size_t n = 0; n < kCounts.size(); ++n) {
      whole->add(sums[n]);
      for (std::size_t i = 0; i < kCounts[n]; ++i)
        sums[n][i] = pairs.summands[n][i] = random_unit(3, static_cast<std::uint64_t>(world.rank()), i);
      const int number = static_cast<int>(n);
      whole->start(number);
      split->start_reduce_scatter(number);
      mpi::wait_until(test::launch().wait, [&] { return whole->test(number); });
      wait_for(*split, number);
      const auto [begin, end] = pairs.own[n];
      const std::span whole_sum = std::span(sums[n]).subspan(begin, end - begin);
      EXPECT_TRUE(std::ranges::equal(whole_sum, std::span(pairs.summands[n]).subspan(begin, end - begin)))
          << name << " " << kCounts[n];
    }
  }
}

TEST(Split, UnknownNameListsEveryBackendThatCan) {
  EXPECT_EQ(check_split_collective("shared").error().message,
            "unknown collective in two halves 'shared'; choose one of: mpi, ring, recursive");
}

}  // namespace
}  // namespace steelyard
