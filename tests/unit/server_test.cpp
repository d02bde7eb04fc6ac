// The server without MPI: every interleaving of 2 workers x 2 bundles x 3 steps, with replies that leave at
// once or late.
#include "modes/ps/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/server_world.hpp"

namespace steelyard::ps {
namespace {

constexpr int kWorkers = 2;
constexpr int kBundles = 2;
constexpr Clock kSteps = 3;
constexpr std::size_t kAll = std::size_t{1} << 30U;

Scene scene(const char* consistency, bool in_worker_order = false) {
  return {.workers = kWorkers,
          .bundles = kBundles,
          .steps = kSteps,
          .consistency = consistency,
          .in_worker_order = in_worker_order};
}

/// What every execution must satisfy when it is over.
void expect_finished_well(World& world, bool bsp) {
  Server& server = world.server();
  const std::uint64_t pushes = kWorkers * kBundles * kSteps;
  EXPECT_EQ(server.pushes(), pushes);
  EXPECT_EQ(server.applied(), pushes) << "every push is applied exactly once";
  EXPECT_EQ(server.waiting(), 0);
  EXPECT_EQ(server.updates(), bsp ? pushes / kWorkers : pushes);
  for (int bundle = 0; bundle < kBundles; ++bundle)
    for (const float value : server.values(bundle))
      EXPECT_EQ(value, -11.0F * kSteps) << "each worker's pushes, once";
  std::uint64_t counted = 0;
  for (int worker = 0; worker < kWorkers; ++worker)
    for (int bundle = 0; bundle < kBundles; ++bundle)
      for (const StalenessCount& one : server.staleness(worker, bundle)) {
        EXPECT_GE(one.staleness, 0);
        EXPECT_TRUE(!bsp || one.staleness == 0) << "bulk synchronous gradients are never stale";
        counted += one.count;
      }
  EXPECT_EQ(counted, pushes);
}

struct Explored {
  std::size_t executions = 0;
  Clock greatest_lead = 0;
};

Explored explore(const Scene& of, bool late, std::size_t most) {
  Explored explored;
  const bool bsp = std::string_view(of.consistency) == "bsp";
  const auto check = [&](World& world) {
    expect_finished_well(world, bsp);
    explored.greatest_lead = std::max(explored.greatest_lead, world.greatest_lead());
  };
  explored.executions = explore(of, late, check, most);
  return explored;
}

TEST(Server, BspOverEveryInterleavingOfPushes) {
  for (const bool in_worker_order : {false, true}) {
    const Explored explored = explore(scene("bsp", in_worker_order), false, kAll);
    // The 4 pushes of a step come in any order, and nobody begins the next before: (4!)^3.
    EXPECT_EQ(explored.executions, 24U * 24U * 24U);
    EXPECT_EQ(explored.greatest_lead, 0);
  }
}

TEST(Server, AspOverEveryInterleavingOfPushes) {
  const Explored explored = explore(scene("asp"), false, kAll);
  // A worker pushes the bundles of each of its steps in either order, (2^3)^2 ways for two; their 6 pushes
  // each interleave in C(12, 6) ways.
  EXPECT_EQ(explored.executions, 64U * 924U);
  EXPECT_EQ(explored.greatest_lead, kSteps);
}

TEST(Server, RepliesThatLeaveLateAreNeverOverwritten) {
  // Replies may leave at any later moment. All orders are too many; the first of them, depth first, are not.
  for (const Scene& of : {scene("bsp"), scene("bsp", true), scene("asp")})
    EXPECT_EQ(explore(of, true, kMostExecutions).executions, kMostExecutions);
}

TEST(Server, RepliesRotate) {
  const auto consistency = make_consistency("bsp").value();
  const auto optimizer = make_optimizer("sgd", {}).value();
  constexpr int kMany = 4;
  const Memory memory(std::array<std::size_t, 1>{1}, kMany, 1);
  Server server({kMany, 2, 1, false}, {*optimizer, *consistency, kept()}, std::array<BundleId, 1>{0},
                memory.views());
  for (int worker = 0; worker < kMany; ++worker) server.receive(worker, 0, push_header(0, worker, 1, 0), 1);
  std::vector<int> order;
  for (const Reply& reply : server.due()) order.push_back(reply.worker);
  EXPECT_EQ(order, (std::vector<int>{2, 3, 0, 1}));
}

}  // namespace
}  // namespace steelyard::ps
