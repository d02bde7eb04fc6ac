#include "tests/fake_gpu/kernels.hpp"

#include <limits>
#include <numeric>

#include "tests/fake_gpu/device.hpp"

namespace steelyard::fake_gpu {
namespace {

/// As refuse.hpp has it; this program is compiled for real libraries and knows nothing of the stand-in.
constexpr int kRefused = 97;

class FakeKernel : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  cudaStream_t stream_ = new_stream();
};

TEST_F(FakeKernel, RunsItsBodyForEveryElement) {
  std::vector<float> values(1001);
  std::iota(values.begin(), values.end(), 0.5F);
  float* device = on_device(values);
  launch_twice(stream_, values.size(), device);
  for (float& value : values) value *= 2.0F;
  EXPECT_EQ(on_host(device, values.size()), values);
}

TEST_F(FakeKernel, RunsInTheOrderOfItsStream) {
  int* device = on_device(std::vector<int>(100, 1));
  int* early = pinned(1, 0);
  Gate gate(stream_);
  launch_increment(stream_, 100, device);
  EXPECT_CUDA(cudaMemcpy(early, device, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_EQ(*early, 1) << "a launch returns before the kernel has run";
  launch_increment(stream_, 100, device);
  gate.open();
  EXPECT_EQ(on_host(device, 100), std::vector<int>(100, 3));
}

TEST_F(FakeKernel, HasThreadsThatMeet) {
  std::vector<int> values(3 * 64);
  std::iota(values.begin(), values.end(), 0);
  const int* device = on_device(values);
  int* sums = on_device(std::vector<int>(3));
  launch_block_sums(stream_, 3, device, sums);
  const int first = 63 * 64 / 2;
  EXPECT_EQ(on_host(sums, 3), (std::vector{first, first + 64 * 64, first + 2 * 64 * 64}));
}

TEST_F(FakeKernel, KnowsWhereItsThreadsAre) {
  constexpr unsigned kWidth = 8;
  constexpr unsigned kHeight = 6;
  constexpr unsigned kDepth = 6;
  unsigned* device = on_device(std::vector<unsigned>(kWidth * kHeight * kDepth));
  launch_places(stream_, device);
  const auto places = on_host(device, kWidth * kHeight * kDepth);
  for (unsigned n = 0; n < places.size(); ++n)
    EXPECT_EQ(places[n], 10000 * (n / kWidth / kHeight) + 100 * (n / kWidth % kHeight) + n % kWidth);
}

TEST_F(FakeKernel, HasAtomicOperations) {
  const auto* values = on_device(std::vector<unsigned long long>{9, 4, 7});
  auto* least = on_device(std::vector{std::numeric_limits<unsigned long long>::max()});
  auto* counted = on_device(std::vector{0U});
  launch_least(stream_, 3, values, least, counted);
  EXPECT_EQ(on_host(least, 1).front(), 4U);
  EXPECT_EQ(on_host(counted, 1).front(), 3U);
}

TEST_F(FakeKernel, OfTooManyThreadsIsAnError) {
  launch_too_many_threads(stream_, on_device(std::vector{1}));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
}

TEST_F(FakeKernel, IsRefusedMemoryThatIsNotOfItsDevice) {
  const auto on_heap = std::make_unique<int>(1);
  EXPECT_EXIT(launch_increment(stream_, 1, on_heap.get()), testing::ExitedWithCode(kRefused),
              "a kernel's argument: 0x.* is memory of the host");
  EXPECT_EXIT(launch_struct(stream_, on_heap.get()), testing::ExitedWithCode(kRefused),
              "is memory of the host");
  int* gone = on_device(std::vector{1});
  EXPECT_CUDA(cudaFree(gone));
  EXPECT_EXIT(launch_struct(stream_, gone), testing::ExitedWithCode(kRefused), "which was given back");
  int* of_host = pinned(1, 1);
  launch_struct(stream_, of_host);
  EXPECT_CUDA(cudaStreamSynchronize(stream_));
  EXPECT_EQ(*of_host, 5) << "pinned memory is reached";
  EXPECT_CUDA(cudaSetDevice(1));
  int* other = on_device(std::vector{1});
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT_EXIT(launch_increment(stream_, 1, other), testing::ExitedWithCode(kRefused),
              "of device 1, not of device 0");
}

}  // namespace
}  // namespace steelyard::fake_gpu
