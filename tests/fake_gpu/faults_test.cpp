#include <signal.h>

#include <string>

#include "tests/fake_gpu/ranks.hpp"
#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

Variables with_fault(const std::string& fault, int devices = 3) {
  return {{"STEELYARD_FAKE_GPU_DEVICES", std::to_string(devices)}, {"STEELYARD_FAKE_GPU_FAULT", fault}};
}

ncclResult_t all_reduce(const Rank& self, int* buffer, std::size_t count) {
  return ncclAllReduce(buffer, buffer, count, ncclInt32, ncclSum, self.communicator, self.stream);
}

/// Long enough for any of these operations, were it to end.
bool hangs(const Rank& self) {
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  return cudaStreamQuery(self.stream) == cudaErrorNotReady;
}

void expect_abort_ends_it(const Rank& self) {
  EXPECT_NCCL(ncclCommAbort(self.communicator));
  EXPECT_TRUE(comes_true([&] { return self.is_idle(); }));
}

/// The first operation succeeds, the second hangs on all ranks.
void expect_second_hangs(Rank& self) {
  self.join();
  int* buffer = on_device<int>(std::vector{1, 2, 3, 4});
  EXPECT_NCCL(all_reduce(self, buffer, 4));
  EXPECT_EQ(on_host(buffer, 1).front(), 3);
  EXPECT_NCCL(all_reduce(self, buffer, 4));
  EXPECT_TRUE(hangs(self));
  EXPECT_EQ(self.state(), ncclSuccess) << "nobody is told";
  expect_abort_ends_it(self);
}

TEST(FakeFaults, MismatchedCountsHangUntilTheyAreAborted) {
  in_ranks(3, with_fault("mismatch:2@1"), expect_second_hangs);
}

TEST(FakeFaults, ASilentPeerHangsUntilItIsAborted) {
  in_ranks(3, with_fault("silent:2@1"), expect_second_hangs);
}

TEST(FakeFaults, DifferentOperationsHangUntilTheyAreAborted) {
  in_ranks(2, with_fault(""), [](Rank& self) {
    self.join();
    int* buffer = on_device<int>(std::vector{1, 2});
    const ncclResult_t said =
        self.rank == 0 ? all_reduce(self, buffer, 2)
                       : ncclBroadcast(buffer, buffer, 2, ncclInt32, 0, self.communicator, self.stream);
    EXPECT_NCCL(said);
    EXPECT_TRUE(hangs(self));
    expect_abort_ends_it(self);
  });
}

TEST(FakeFaults, AnAsynchronousErrorIsOneOfTheSystemHereAndARemoteOneThere) {
  in_ranks(3, with_fault("async_error:2@1"), [](Rank& self) {
    self.join();
    int* buffer = on_device<int>(std::vector{1});
    EXPECT_NCCL(all_reduce(self, buffer, 1));
    EXPECT_EQ(on_host(buffer, 1).front(), 3);
    const ncclResult_t said = all_reduce(self, buffer, 1);
    const ncclResult_t expected = self.rank == 1 ? ncclSystemError : ncclRemoteError;
    EXPECT_TRUE(said == ncclSuccess || said == expected) << "a peer may hear of it before it calls";
    EXPECT_TRUE(comes_true([&] { return self.state() == expected; }));
    EXPECT_EQ(all_reduce(self, buffer, 1), expected);
    EXPECT_EQ(cudaStreamQuery(self.stream), said == ncclSuccess ? cudaErrorNotReady : cudaSuccess);
    expect_abort_ends_it(self);
  });
}

TEST(FakeFaults, APeerThatDiesAtInitLeavesTheOthersInProgress) {
  const auto ends = in_ranks(3, with_fault("death_at_init:1@1"), [](Rank& self) {
    EXPECT_EQ(self.begin_to_join(), ncclInProgress);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(self.state(), ncclInProgress);
    EXPECT_NCCL(ncclCommAbort(self.communicator));
  });
  EXPECT_EQ(ends, (std::vector{0, SIGKILL, 0}));
}

TEST(FakeFaults, TwoRanksOnOneDeviceAreToldSo) {
  in_ranks(3, with_fault("", 2), [](Rank& self) {
    EXPECT_EQ(self.begin_to_join(), ncclInProgress);
    const ncclResult_t expected = self.rank == 1 ? ncclSuccess : ncclInvalidUsage;
    EXPECT_TRUE(comes_true([&] { return self.state() == expected; }));
  });
}

TEST(FakeFaults, MemoryIsOutAtTheAllocationThatIsMeant) {
  in_ranks(2, with_fault("out_of_memory:2@1"), [](Rank& self) {
    for (int allocation = 1; allocation <= 3; ++allocation) {
      void* memory = nullptr;
      const bool out = self.rank == 1 && allocation == 2;
      EXPECT_EQ(cudaMalloc(&memory, 8), out ? cudaErrorMemoryAllocation : cudaSuccess);
      EXPECT_EQ(memory == nullptr, out);
    }
  });
}

TEST(FakeFaults, ALostDeviceStaysLost) {
  in_ranks(1, with_fault("device_lost:2"), [](Rank& self) {
    int* from = pinned(1, 7);
    int* to = pinned(1, 1);
    Gate gate(self.stream);
    EXPECT_CUDA(cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyDefault, self.stream));
    EXPECT_EQ(cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyDefault, self.stream), cudaErrorLaunchFailure);
    gate.open();
    EXPECT_EQ(cudaStreamSynchronize(self.stream), cudaErrorLaunchFailure);
    EXPECT_EQ(*to, 1) << "what was queued is not done";
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 8), cudaErrorLaunchFailure);
    EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
    EXPECT_EQ(ncclCommInitRank(&self.communicator, 1, self.id, 0), ncclUnhandledCudaError);
  });
}

TEST(FakeFaults, NoDeviceLeavesTheCountAlone) {
  setenv("STEELYARD_FAKE_GPU_DEVICES", "0", 1);
  EXPECT_EXIT(
      {
        int count = 5;
        std::_Exit(cudaGetDeviceCount(&count) == cudaErrorNoDevice ? count : 0);
      },
      testing::ExitedWithCode(5), "");
  unsetenv("STEELYARD_FAKE_GPU_DEVICES");
}

TEST(FakeFaults, ADelayHoldsBackWhatIsQueued) {
  in_ranks(1, {{"STEELYARD_FAKE_GPU_DELAY_US", "100000"}}, [](Rank& self) {
    int* from = pinned(1, 7);
    int* to = pinned(1, 1);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_CUDA(cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyDefault, self.stream));
    EXPECT_EQ(*to, 1);
    EXPECT_CUDA(cudaStreamSynchronize(self.stream));
    EXPECT_EQ(*to, 7);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(100));
  });
}

TEST(FakeFaults, WhatIsNoFaultIsRefused) {
  for (const char* text : {"nonsense:1", "silent", "silent:0", "silent:x", "silent:1@x", "silent:1,,"}) {
    setenv("STEELYARD_FAKE_GPU_FAULT", text, 1);
    void* memory = nullptr;
    EXPECT_EXIT(cudaMalloc(&memory, 8), testing::ExitedWithCode(kRefused), "is not kind:k");
  }
  unsetenv("STEELYARD_FAKE_GPU_FAULT");
}

}  // namespace
}  // namespace steelyard::fake_gpu
