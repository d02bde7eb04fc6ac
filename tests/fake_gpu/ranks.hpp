#pragma once

/// @file
/// Tests of NCCL among processes, one a rank.

#include <nccl.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake_gpu/device.hpp"

#define EXPECT_NCCL(call) EXPECT_EQ(call, ncclSuccess)

namespace steelyard::fake_gpu {

/// Yields until it holds. @return whether it did within 30 s.
template <typename Holds>
bool comes_true(const Holds& holds) {
  const auto begin = std::chrono::steady_clock::now();
  while (!holds()) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(30)) return false;
    std::this_thread::yield();
  }
  return true;
}

/// One process' part: its communicator, on device `rank`, and a stream of that device.
struct Rank {
  int rank = 0;
  int ranks = 0;
  ncclUniqueId id{};
  ncclComm_t communicator = nullptr;
  cudaStream_t stream = nullptr;

  /// Joins with a communicator whose calls block.
  void join();
  /// Begins to join with one whose calls do not. @return what NCCL said.
  ncclResult_t begin_to_join();
  ncclResult_t state() const;
  bool is_idle() const { return cudaStreamQuery(stream) == cudaSuccess; }
};

using Variables = std::map<std::string, std::string>;

/// Runs `test` in as many processes, each with its rank in OMPI_COMM_WORLD_RANK and `variables` in its
/// environment. Expectations that fail in one of them fail the test.
/// @return the signal that ended each, or 0. One that has not ended after 60 s is killed.
std::vector<int> in_ranks(int ranks, const Variables& variables, const std::function<void(Rank&)>& test);

}  // namespace steelyard::fake_gpu
