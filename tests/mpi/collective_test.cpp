// Every backend gives the exact sum, at every count around the number of ranks, several buffers at a time.
#include "src/collective/collective.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "src/mpi/wait.hpp"
#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

// Small integers: every order of summation gives the same bits, so the comparison is exact.
float input(std::size_t i, Rank rank, int round) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3 + static_cast<std::size_t>(round)) %
                            64);
}

float expected(std::size_t i, int ranks, int round) {
  float sum = 0.0F;
  for (Rank rank = 0; rank < ranks; ++rank) sum += input(i, rank, round);
  return sum;
}

class EveryBackend : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Collective, EveryBackend, testing::Values("mpi", "ring"));

TEST_P(EveryBackend, SumsExactlyWithSeveralBuffersUnderWayAndAgain) {
  const mpi::Communicator& world = test::launch().world;
  const std::vector<std::size_t> counts = {0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 64, 1000, 100'000};
  std::vector<std::vector<float>> buffers;
  for (const std::size_t count : counts) buffers.emplace_back(count);
  const auto collective = std::move(make_collective(GetParam(), world)).value();
  for (std::size_t b = 0; b < buffers.size(); ++b)
    EXPECT_EQ(collective->add(buffers[b]), static_cast<int>(b));

  for (int round = 0; round < 3; ++round) {
    for (auto& buffer : buffers)
      for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = input(i, world.rank(), round);
    for (int b = 0; b < static_cast<int>(buffers.size()); ++b) collective->start(b);
    for (int b = 0; b < static_cast<int>(buffers.size()); ++b)
      mpi::wait_until(test::launch().wait, [&] { return collective->test(b); });
    for (const auto& buffer : buffers)
      for (std::size_t i = 0; i < buffer.size(); ++i) ASSERT_EQ(buffer[i], expected(i, world.size(), round));
  }
}

TEST(Collective, UnknownNameListsEveryBackend) {
  const auto none = make_collective("gloo", test::launch().world);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "unknown collective 'gloo'; choose one of: mpi, ring");
}

}  // namespace
}  // namespace steelyard
