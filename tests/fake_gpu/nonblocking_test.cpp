#include <unistd.h>

#include "tests/fake_gpu/ranks.hpp"

namespace steelyard::fake_gpu {
namespace {

const Variables kDevices = {{"STEELYARD_FAKE_GPU_DEVICES", "2"}};

/// @return whether the call said so, and is through.
bool in_progress_and_through(const Rank& self, ncclResult_t said) {
  return said == ncclInProgress && comes_true([&] { return self.state() == ncclSuccess; });
}

TEST(FakeNcclNonblocking, JoiningIsInProgressUntilAllHaveJoined) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  in_ranks(2, kDevices, [&](Rank& self) {
    char byte = 0;
    if (self.rank == 1) {
      EXPECT_EQ(read(told[0], &byte, 1), 1);
    }
    const ncclResult_t said = self.begin_to_join();
    int* buffer = on_device<int>(std::vector{1});
    if (self.rank == 0) {
      EXPECT_EQ(self.state(), ncclInProgress);
      EXPECT_EQ(ncclAllReduce(buffer, buffer, 1, ncclInt32, ncclSum, self.communicator, self.stream),
                ncclInvalidArgument);
      EXPECT_EQ(write(told[1], &byte, 1), 1);
    }
    EXPECT_TRUE(in_progress_and_through(self, said));
    EXPECT_TRUE(in_progress_and_through(
        self, ncclAllReduce(buffer, buffer, 1, ncclInt32, ncclSum, self.communicator, self.stream)));
    EXPECT_EQ(on_host(buffer, 1).front(), 2);
  });
}

TEST(FakeNcclNonblocking, FinalizingIsInProgressUntilAllIsDone) {
  in_ranks(2, kDevices, [](Rank& self) {
    EXPECT_TRUE(in_progress_and_through(self, self.begin_to_join()));
    int* buffer = on_device<int>(std::vector{1});
    Gate gate(self.stream);
    EXPECT_TRUE(in_progress_and_through(
        self, ncclAllReduce(buffer, buffer, 1, ncclInt32, ncclSum, self.communicator, self.stream)));
    EXPECT_EQ(ncclCommFinalize(self.communicator), ncclInProgress);
    EXPECT_EQ(self.state(), ncclInProgress);
    gate.open();
    EXPECT_TRUE(comes_true([&] { return self.state() == ncclSuccess; }));
    EXPECT_NCCL(ncclCommDestroy(self.communicator));
    EXPECT_EQ(on_host(buffer, 1).front(), 2);
  });
}

TEST(FakeNcclNonblocking, JoiningCanBeAborted) {
  in_ranks(2, kDevices, [](Rank& self) {
    if (self.rank == 1) return;
    EXPECT_EQ(self.begin_to_join(), ncclInProgress);
    EXPECT_EQ(self.state(), ncclInProgress);
    EXPECT_NCCL(ncclCommAbort(self.communicator));
  });
}

TEST(FakeNccl, ChecksWhatItIsGiven) {
  in_ranks(1, kDevices, [](Rank& self) {
    EXPECT_EQ(ncclCommInitRank(&self.communicator, 1, self.id, 1), ncclInvalidArgument);
    ncclConfig_t config = {};
    EXPECT_EQ(ncclCommInitRankConfig(&self.communicator, 1, self.id, 0, &config), ncclInvalidArgument);
    self.join();
    int* buffer = on_device<int>(std::vector{1});
    EXPECT_EQ(ncclBroadcast(buffer, buffer, 1, ncclInt32, 1, self.communicator, self.stream),
              ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    void* registration = nullptr;
    EXPECT_NCCL(ncclCommRegister(self.communicator, buffer, sizeof(int), &registration));
    EXPECT_NCCL(ncclCommDeregister(self.communicator, registration));
    EXPECT_EQ(ncclCommDeregister(self.communicator, registration), ncclInvalidArgument);
    void* memory = nullptr;
    EXPECT_NCCL(ncclMemAlloc(&memory, 100));
    EXPECT_NCCL(ncclMemFree(memory));
    int count = 0;
    EXPECT_NCCL(ncclCommCount(self.communicator, &count));
    EXPECT_EQ(count, 1);
    int version = 0;
    EXPECT_NCCL(ncclGetVersion(&version));
    EXPECT_EQ(version, NCCL_VERSION_CODE);
  });
}

}  // namespace
}  // namespace steelyard::fake_gpu
