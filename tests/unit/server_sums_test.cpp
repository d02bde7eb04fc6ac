// What a server sums, in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/server_memory.hpp"

namespace steelyard::ps {
namespace {

/// The sum that three workers' pushes give when they arrive in this order.
float sum_after(const std::vector<int>& arrivals, bool in_worker_order) {
  // 2^24 + 1 is no float: the small ones are lost if they are added to the large one, one at a time.
  constexpr std::array<float, 3> kGradients = {16777216.0F, 1.0F, 1.0F};
  const auto consistency = make_consistency("bsp").value();
  const auto optimizer = make_optimizer("sgd", {1.0F, 0.0F}).value();
  Memory memory(std::array<std::size_t, 1>{1}, 3, 1);
  Server server({3, 0, 1, in_worker_order}, {*optimizer, *consistency, kept()}, std::array<BundleId, 1>{0},
                memory.views());
  for (const int worker : arrivals) {
    memory.gradient(worker, 0)[0] = kGradients[static_cast<std::size_t>(worker)];
    server.receive(worker, 0, push_header(0, worker, 1, 0), 1);
  }
  EXPECT_EQ(server.updates(), 1U);
  return -server.values(0)[0];
}

TEST(Server, SumsInWorkerOrderDoNotDependOnTheOrderOfArrival) {
  std::vector<int> arrivals = {0, 1, 2};
  do {
    EXPECT_EQ(sum_after(arrivals, true), 16777216.0F);
  } while (std::next_permutation(arrivals.begin(), arrivals.end()));
  EXPECT_EQ(sum_after({1, 2, 0}, false), 16777218.0F) << "or this test could not fail";
}

// Small integers, so the sum is exact. More workers than one pass over memory sums, and more elements than
// one block of it holds.
TEST(Server, SumsThePushesOfAnyNumberOfWorkers) {
  constexpr std::size_t kMany = 5000;
  const auto consistency = make_consistency("bsp").value();
  const auto optimizer = make_optimizer("momentum", {1.0F, 0.5F}).value();
  for (int workers = 1; workers <= 20; ++workers) {
    Memory memory(std::array<std::size_t, 1>{kMany}, workers, 1);
    Server server({workers, 0, 1, false}, {*optimizer, *consistency, kept()}, std::array<BundleId, 1>{0},
                  memory.views());
    for (Clock step = 1; step <= 2; ++step) {
      for (int worker = 0; worker < workers; ++worker) {
        std::ranges::fill(memory.gradient(worker, 0), static_cast<float>(worker + 1));
        server.receive(worker, 0, push_header(0, worker, step, step - 1), 1);
      }
      server.due().clear();
      for (int worker = 0; worker < workers; ++worker) server.sent({worker, 0, 0}, 1);
    }
    const auto sum = static_cast<float>(workers * (workers + 1) / 2);
    for (const float value : server.values(0)) ASSERT_EQ(value, -2.5F * sum) << workers << " workers";
  }
}

}  // namespace
}  // namespace steelyard::ps
