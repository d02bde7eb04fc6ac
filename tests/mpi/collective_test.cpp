// Every backend gives the exact sum, at every count around the number of ranks, several buffers at a time.
#include "src/collective/collective.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "src/base/random.hpp"
#include "src/collective/pipelined.hpp"
#include "src/collective/shared.hpp"
#include "src/mpi/shared_window.hpp"
#include "src/mpi/wait.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/summands.hpp"

namespace steelyard {
namespace {

using test::sum_of_summands;
using test::summand;

/// Collective. Counts around the number of ranks, around cache lines, and of many chunks; three rounds.
void expect_exact_sums(Collective& collective) {
  const mpi::Communicator& world = test::launch().world;
  const std::vector<std::size_t> counts = {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 64, 1000, 100'000, 2'500'001};
  std::vector<std::vector<float>> buffers;
  for (const std::size_t count : counts) buffers.emplace_back(count);
  for (std::size_t b = 0; b < buffers.size(); ++b) EXPECT_EQ(collective.add(buffers[b]), static_cast<int>(b));

  for (int round = 0; round < 3; ++round) {
    for (auto& buffer : buffers)
      for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = summand(i, world.rank(), round);
    for (int b = 0; b < static_cast<int>(buffers.size()); ++b) collective.start(b);
    for (int b = 0; b < static_cast<int>(buffers.size()); ++b)
      mpi::wait_until(test::launch().wait, [&] { return collective.test(b); });
    for (const auto& buffer : buffers)
      for (std::size_t i = 0; i < buffer.size(); ++i)
        ASSERT_EQ(buffer[i], sum_of_summands(i, world.size(), round));
  }
}

class EveryBackend : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Collective, EveryBackend,
                         testing::Values("auto", "mpi", "ring", "recursive", "shared"));

TEST_P(EveryBackend, SumsExactlyWithSeveralBuffersUnderWayAndAgain) {
  const auto collective = std::move(make_collective(GetParam(), test::launch().world)).value();
  expect_exact_sums(*collective);
}

// Ranks that run as far ahead of each other as they can: nothing may be overwritten that a late one reads.
TEST_P(EveryBackend, SumsExactlyWhereARankIsLate) {
  const mpi::Communicator& world = test::launch().world;
  const auto collective = std::move(make_collective(GetParam(), world)).value();
  for (const std::size_t count : {std::size_t{5}, std::size_t{3000}, std::size_t{70'000}}) {
    std::vector<float> buffer(count);
    const int number = collective->add(buffer);
    for (int round = 0; round < 3 * world.size(); ++round) {
      for (std::size_t i = 0; i < count; ++i) buffer[i] = summand(i, world.rank(), round);
      if (round % world.size() == world.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      collective->start(number);
      mpi::wait_until(test::launch().wait, [&] { return collective->test(number); });
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(buffer[i], sum_of_summands(i, world.size(), round));
    }
  }
}

// Parts of one machine stand for nodes: two of nearly equal size, and one rank alone against all others.
TEST(SharedCollective, SumsExactlyOverSeveralNodes) {
  const mpi::Communicator& world = test::launch().world;
  for (const int node : {world.rank() % 2, world.rank() == 0 ? 0 : 1}) {
    const auto collective = make_shared_collective_over(world, world.split(node));
    expect_exact_sums(*collective);
  }
}

// Segments of a few elements, so that windows go round and messages overtake each other.
TEST(PipelinedCollective, SumsExactlyInManySegments) {
  const mpi::Communicator& world = test::launch().world;
  for (Plan* plan : {plan_ring, plan_recursive}) {
    PipelinedCollective collective(world, *plan, Wire::fp32, 10'000);
    expect_exact_sums(collective);
  }
}

TEST(SharedWindow, IsZeroedAlignedAndTheSameForAll) {
  const mpi::Communicator node = test::launch().world.split_by_node();
  const auto index = static_cast<std::size_t>(node.rank());
  mpi::SharedWindow window(node, 1000);
  ASSERT_EQ(window.bytes().size(), 1000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.bytes().data()) % kCacheLine, 0U);
  for (const std::byte one : window.bytes()) EXPECT_EQ(one, std::byte{0});
  mpi::barrier(node, test::launch().wait);
  window.bytes()[index] = static_cast<std::byte>(index + 1);
  mpi::barrier(node, test::launch().wait);
  const mpi::SharedWindow moved = std::move(window);
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(node.size()); ++rank)
    EXPECT_EQ(moved.bytes()[rank], static_cast<std::byte>(rank + 1));
}

/// From 2^-8.5 to 2^8.5, of both signs.
float mixed(std::size_t i, Rank rank) {
  const float exponent = 17.0F * random_unit(3, static_cast<std::uint64_t>(rank), 2 * i);
  return std::exp2(exponent / 2.0F) * random_unit(3, static_cast<std::uint64_t>(rank), 2 * i + 1);
}

/// Collective. The law of docs/performance.md: `roundings` on the way of a summand, each with relative error
/// u and, below the normal numbers, an absolute one of half the least number there is.
void expect_within_bound(Collective& collective, Wire wire, int roundings) {
  const mpi::Communicator& world = test::launch().world;
  const double unit = wire == Wire::fp16 ? 0x1p-11 : 0x1p-8;
  const double least = wire == Wire::fp16 ? 0x1p-25 : 0x1p-134;
  const double fp32 = world.size() * 0x1p-24;
  const double relative = world.size() == 1 ? 0.0 : std::pow(1.0 + unit, roundings) * (1.0 + fp32) - 1.0;
  for (const std::size_t count : {std::size_t{5}, std::size_t{500}, std::size_t{30'000}}) {
    std::vector<float> data(count);
    const int number = collective.add(data);
    for (std::size_t i = 0; i < count; ++i) data[i] = mixed(i, world.rank());
    collective.start(number);
    mpi::wait_until(test::launch().wait, [&] { return collective.test(number); });
    std::vector<float> first = data;
    mpi::broadcast(world, std::as_writable_bytes(std::span(first)), 0);
    ASSERT_EQ(std::memcmp(first.data(), data.data(), count * sizeof(float)), 0) << "replicas diverge";
    for (std::size_t i = 0; i < count; ++i) {
      double exact = 0.0;
      double sizes = 0.0;
      for (Rank rank = 0; rank < world.size(); ++rank) {
        exact += static_cast<double>(mixed(i, rank));
        sizes += std::abs(static_cast<double>(mixed(i, rank)));
      }
      ASSERT_LE(std::abs(static_cast<double>(data[i]) - exact),
                relative * sizes + 2.0 * world.size() * least);
    }
  }
}

TEST(NarrowWire, KeepsItsBoundAndReplicasKeepTheSameBits) {
  const mpi::Communicator& world = test::launch().world;
  const int ranks = world.size();
  const int rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1;
  for (const Wire wire : {Wire::fp16, Wire::bf16}) {
    expect_within_bound(*make_collective("mpi", world, {wire}).value(), wire, ranks);
    expect_within_bound(*make_collective("ring", world, {wire}).value(), wire, ranks);
    expect_within_bound(*make_collective("recursive", world, {wire}).value(), wire, rounds + 2);
    expect_within_bound(*make_collective("shared", world, {wire}).value(), wire, 0);
    expect_within_bound(*make_shared_collective_over(world, world.split(world.rank() % 2), {wire}), wire, 2);
    PipelinedCollective ring(world, plan_ring, wire, 100);
    expect_within_bound(ring, wire, ranks);
    PipelinedCollective recursive(world, plan_recursive, wire, 100);
    expect_within_bound(recursive, wire, rounds + 2);
  }
}

TEST(NarrowWire, IsExactWhereSumsHaveFewBits) {
  for (const char* backend : {"mpi", "ring", "recursive", "shared"}) {
    const auto collective = std::move(make_collective(backend, test::launch().world, {Wire::fp16})).value();
    expect_exact_sums(*collective);
  }
}

// Nothing may change while it times, all ranks choose alike, and what was fastest is taken.
TEST(AutoCollective, ChoosesTheFastestForEachBufferAndLeavesItsDataAlone) {
  const mpi::Communicator& world = test::launch().world;
  std::vector<CollectiveChoice> choices;
  const auto collective =
      std::move(make_collective("auto", world, {Wire::fp32, false, test::launch().wait, &choices})).value();
  std::vector<std::vector<float>> buffers;
  for (const std::size_t count : {100U, 110U, 300'000U}) buffers.emplace_back(count, 3.0F);
  for (auto& buffer : buffers) collective->add(buffer);
  ASSERT_EQ(choices.size(), buffers.size());
  EXPECT_EQ(choices[0].chosen, choices[1].chosen) << "sizes within a quarter of each other";
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(choices[i].bytes, buffers[i].size() * sizeof(float));
    EXPECT_EQ(mpi::broadcast(world, choices[i].chosen, 0), choices[i].chosen);
    EXPECT_EQ(choices[i].timings.size(), world.size() == 1 ? 0U : 4U);
    for (const CollectiveTiming& one : choices[i].timings)
      for (const CollectiveTiming& other : choices[i].timings)
        EXPECT_TRUE(one.backend != choices[i].chosen || one.ns <= other.ns);
    for (const float value : buffers[i]) ASSERT_EQ(value, 3.0F);
  }
}

TEST(AutoCollective, TimesNothingWhereTheBitsMustBeThoseOfTheRunBefore) {
  for (const auto& [wire, expected] : {std::pair{Wire::fp32, "shared"}, std::pair{Wire::bf16, "ring"}}) {
    std::vector<CollectiveChoice> choices;
    const auto collective =
        std::move(make_collective("auto", test::launch().world, {wire, true, test::launch().wait, &choices}))
            .value();
    std::vector<float> buffer(1000);
    collective->add(buffer);
    EXPECT_EQ(choices[0].chosen, expected);
    EXPECT_TRUE(choices[0].timings.empty());
  }
}

TEST(Collective, UnknownNameListsEveryBackend) {
  const auto none = make_collective("gloo", test::launch().world);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "unknown collective 'gloo'; choose one of: mpi, ring, recursive, shared, auto");
}

}  // namespace
}  // namespace steelyard
