// NcclGroup on the stand-in: sums exact, joined to other work by events alone; devices checked before NCCL
// is.
#include <gtest/gtest.h>

#include <numeric>

#include "src/collective/nccl.hpp"
#include "src/cuda/buffer.hpp"
#include "src/cuda/device.hpp"
#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

constexpr std::size_t kSizes[] = {1, 7, 1024, 100'003};

const mpi::Communicator& world() { return test::launch().world; }

std::unique_ptr<NcclGroup> make_group() {
  EXPECT_TRUE(cuda::take_device(test::launch().topology.local_rank));
  return std::make_unique<NcclGroup>(world(), NcclOptions{"Ring", 60.0});
}

/// A whole number of `rank` for element i in a step: sums are exact in any order.
float number(Rank rank, int step, std::size_t i) {
  return static_cast<float>((rank + 1) * (step + 1)) * static_cast<float>(i % 251);
}

float sum_of_numbers(int step, std::size_t i) {
  const int ranks = world().size();
  return static_cast<float>(ranks * (ranks + 1) / 2 * (step + 1)) * static_cast<float>(i % 251);
}

TEST(Group, SumsBucketsBesideOtherWork) {
  const auto group = make_group();
  const std::size_t all = std::accumulate(std::begin(kSizes), std::end(kSizes), std::size_t{0});
  const cuda::DeviceBuffer<float> slab(all);
  const cuda::PinnedBuffer<float> host(all);
  const cuda::PinnedBuffer<float> back(all);
  const cuda::Stream compute;
  const cuda::Stream communication;
  const cuda::Event made;
  const cuda::Event summed;
  group->enlist(slab.span());
  for (int step = 0; step < 4; ++step) {
    group->begin_step(step);
    for (std::size_t i = 0; i < all; ++i) host.span()[i] = number(world().rank(), step, i);
    std::size_t begin = 0;
    for (const std::size_t size : kSizes) {
      const auto part = slab.span().subspan(begin, size);
      cuda::copy<float>(compute, host.span().subspan(begin, size), part);
      compute.record(made);
      communication.wait(made);
      group->allreduce(part, communication);
      begin += size;
    }
    communication.record(summed);
    compute.wait(summed);
    cuda::copy<float>(compute, slab.span(), back.span());
    compute.record(made);
    group->await(made);
    for (std::size_t i = 0; i < all; ++i)
      ASSERT_EQ(back.span()[i], sum_of_numbers(step, i)) << "step " << step << ", element " << i;
  }
}

}  // namespace
}  // namespace steelyard
