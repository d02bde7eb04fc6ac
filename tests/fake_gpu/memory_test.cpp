#include <cstdlib>
#include <thread>

#include "tests/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

#define EXPECT_REFUSED(statement, words) EXPECT_EXIT(statement, testing::ExitedWithCode(kRefused), words)

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  cudaDeviceSynchronize();
}

class FakeMemory : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(FakeMemory, OfTheHostIsRefusedWhereOneOfTheDeviceIsNeeded) {
  int host = 0;
  int* device = on_device<int>(std::vector{1});
  EXPECT_REFUSED(cudaMemset(&host, 0, 4), "cudaMemset: 0x.* is memory of the host");
  EXPECT_REFUSED(copy(&host, device, 4, cudaMemcpyHostToDevice), "kind 1 from .* is of kind 2");
  EXPECT_REFUSED(copy(device, device, 4, cudaMemcpyDeviceToHost), "kind 2 from .* is of kind 3");
}

TEST_F(FakeMemory, IsGivenBackOnce) {
  int* device = on_device<int>(std::vector{1});
  EXPECT_CUDA(cudaFree(device));
  EXPECT_CUDA(cudaFree(nullptr));
  EXPECT_REFUSED(cudaFree(device), "cudaFree.*which was given back");
  EXPECT_REFUSED(cudaFree(on_device<int>(std::vector{1, 2}) + 1), "is the begin of no such allocation");
  EXPECT_REFUSED(cudaFreeHost(on_device<int>(std::vector{1})), "is the begin of no such allocation");
}

TEST_F(FakeMemory, CannotBeUsedWhenItWasGivenBack) {
  int* device = on_device<int>(std::vector{1});
  int* host = pinned(1, 2);
  EXPECT_CUDA(cudaFree(device));
  EXPECT_CUDA(cudaFreeHost(host));
  EXPECT_REFUSED(cudaMemset(device, 0, 4), "which was given back");
  EXPECT_REFUSED(std::exit(*host), "access to 0x.*, after it was given back: an allocation of 4 bytes");
}

TEST_F(FakeMemory, EndsWhereItsAllocationEnds) {
  int* device = on_device<int>(std::vector{1, 2});
  EXPECT_REFUSED(cudaMemset(device + 1, 0, 8), "8 bytes at 0x.* go beyond an allocation of 8 bytes");
  int* host = pinned(64, 2);
  EXPECT_REFUSED(std::exit(host[64]), "access to 0x.*, beyond an allocation of 256 bytes");
}

TEST_F(FakeMemory, BelongsToOneDevice) {
  EXPECT_CUDA(cudaSetDevice(1));
  int* device = on_device<int>(std::vector{1});
  const cudaStream_t stream = new_stream();
  EXPECT_CUDA(cudaSetDevice(0));
  EXPECT_REFUSED(cudaMemset(device, 0, 4), "is memory of device 1, not of device 0");
  EXPECT_CUDA(cudaMemsetAsync(device, 0, 4, stream));
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
}

TEST_F(FakeMemory, IsGivenBackWhenTheDeviceIsDoneWithIt) {
  int* device = on_device<int>(std::vector{1});
  int* source = pinned(1, 7);
  const cudaStream_t stream = new_stream();
  Gate gate(stream);
  EXPECT_CUDA(cudaMemcpyAsync(device, source, 4, cudaMemcpyHostToDevice, stream));
  std::thread opens([&] { gate.open(); });
  EXPECT_CUDA(cudaFree(device));
  EXPECT_CUDA(cudaStreamQuery(stream)) << "cudaFree waits for it";
  opens.join();
}

TEST_F(FakeMemory, HasALimit) {
  std::size_t left = 0;
  std::size_t total = 0;
  EXPECT_CUDA(cudaMemGetInfo(&left, &total));
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, left + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_CUDA(cudaMalloc(&memory, 1000));
  const std::size_t before = left;
  EXPECT_CUDA(cudaMemGetInfo(&left, &total));
  EXPECT_EQ(left, before - 1000);
}

TEST_F(FakeMemory, BeginsOn256BytesAndHoldsNoZeros) {
  for (const std::size_t bytes : {1UL, 255UL, 257UL, 5000UL}) {
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 256, 0U);
    EXPECT_EQ(on_host(static_cast<unsigned char*>(memory), bytes).back(), 0xff);
  }
}

TEST_F(FakeMemory, HandlesThatAreNoneAreRefused) {
  const cudaStream_t stream = new_stream();
  EXPECT_CUDA(cudaStreamDestroy(stream));
  EXPECT_REFUSED(cudaStreamSynchronize(stream),
                 "cudaStreamSynchronize: 0x.* is no stream, or one that is destroyed");
  const cudaEvent_t event = new_event();
  EXPECT_CUDA(cudaEventDestroy(event));
  EXPECT_REFUSED(cudaEventQuery(event), "is no event");
}

TEST_F(FakeMemory, CallsWithoutStandInAreRefused) {
  EXPECT_REFUSED(cudaDeviceReset(), "cudaDeviceReset is called, which this library does not stand in for");
  cudaStream_t stream = nullptr;
  EXPECT_REFUSED(cudaStreamCreate(&stream), "without cudaStreamNonBlocking");
}

}  // namespace
}  // namespace steelyard::fake_gpu
