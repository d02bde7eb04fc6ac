#include "modes/ps/placement/placement.hpp"

#include <gtest/gtest.h>

#include <map>

#include "modes/ps/plan.hpp"
#include "src/model/model.hpp"
#include "src/trace/metrics.hpp"

namespace steelyard::ps {
namespace {

constexpr const char* kStrategies[] = {"round_robin", "greedy", "largest_first", "range"};

std::vector<Shard> place(const char* name, const Inventory& inventory, int servers, std::size_t offset = 0) {
  return find_placement(name).value()(inventory, {servers, offset});
}

double max_over_mean(const std::vector<Shard>& shards, int servers) {
  std::vector<double> load(static_cast<std::size_t>(servers));
  for (const Shard& shard : shards)
    load[static_cast<std::size_t>(shard.server)] += static_cast<double>(shard.elements());
  return trace::imbalance(load).max_over_mean;
}

Inventory inventory_of(const char* model) { return describe_model(model).value().inventory; }

TEST(Placement, EveryElementHasExactlyOneOwner) {
  for (const char* model : {"lenet", "mlp:784-256-128-64-10", "mlp:3-2"})
    for (const char* strategy : kStrategies)
      for (int servers = 1; servers <= 23; ++servers) {
        const Inventory inventory = inventory_of(model);
        std::vector<std::size_t> next(inventory.size());
        TensorId tensor = 0;
        for (const Shard& shard : place(strategy, inventory, servers)) {
          ASSERT_GE(shard.tensor, tensor) << "ordered by tensor";
          tensor = shard.tensor;
          ASSERT_EQ(shard.begin, next[tensor]) << "neither gap nor overlap";
          ASSERT_LT(shard.begin, shard.end) << "no empty shard";
          ASSERT_GE(shard.server, 0);
          ASSERT_LT(shard.server, servers);
          next[tensor] = shard.end;
        }
        for (TensorId id = 0; id < inventory.size(); ++id) ASSERT_EQ(next[id], inventory[id].elements());
      }
}

TEST(Placement, LargeShardsAreCutIntoEqualPiecesForTheSameServer) {
  const std::vector<Shard> shards = {{0, 0, 1000, 1}, {1, 0, 16, 0}, {2, 500, 531, 2}};
  EXPECT_EQ(cut_large(shards, 4000), shards) << "all fit";
  EXPECT_EQ(cut_large(shards, 3999),
            (std::vector<Shard>{{0, 0, 512, 1}, {0, 512, 1000, 1}, shards[1], shards[2]}));
  EXPECT_EQ(cut_large({shards[2]}, 64), (std::vector<Shard>{{2, 500, 516, 2}, {2, 516, 531, 2}}));
  for (const std::size_t bytes : {64U, 100U, 640U, 2048U}) {
    std::size_t next = 0;
    for (const Shard& piece : cut_large({shards[0]}, bytes)) {
      EXPECT_EQ(piece.begin, next);
      EXPECT_LE(piece.elements() * sizeof(float), bytes);
      next = piece.end;
    }
    EXPECT_EQ(next, 1000U);
  }
}

TEST(Placement, KnownImbalanceOfLenetOnEightServers) {
  const Inventory lenet = inventory_of("lenet");
  ASSERT_EQ(total_elements(lenet), 61'706U);
  // The first fully connected layer holds 48,000 of the elements: no placement of whole tensors beats 6.22.
  for (const char* strategy : {"round_robin", "greedy", "largest_first"}) {
    const auto shards = place(strategy, lenet, 8);
    EXPECT_NEAR(max_over_mean(shards, 8), 6.22, 0.011) << strategy;
    EXPECT_EQ(shards.size(), 10U) << strategy;
  }
  EXPECT_NEAR(max_over_mean(place("range", lenet, 8), 8), 1.00, 0.005);
  EXPECT_EQ(place("range", lenet, 8).size(), 17U);
}

TEST(Placement, RoundRobinWithOffsetOneGivesOneServerMostOfTheTraffic) {
  const Inventory mlp = inventory_of("mlp:784-256-128-64-10");
  std::vector<double> share(4);
  for (const Shard& shard : place("round_robin", mlp, 4, 1))
    share[static_cast<std::size_t>(shard.server)] +=
        100.0 * static_cast<double>(shard.elements()) / 242'762.0;
  EXPECT_NEAR(share[0], 0.06, 0.005);
  EXPECT_NEAR(share[1], 86.05, 0.005);
  EXPECT_NEAR(share[2], 0.13, 0.005);
  EXPECT_NEAR(share[3], 13.76, 0.005);
}

TEST(Placement, UnknownNameListsEveryStrategy) {
  EXPECT_EQ(find_placement("fastest").error().message,
            "unknown placement 'fastest'; choose one of: round_robin, greedy, largest_first, range");
}

class Plans : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(BundleBytes, Plans, testing::Values(4, 1000, 4096, 131072, 1 << 30));

TEST_P(Plans, EveryShardTravelsInOneBundleOfItsServer) {
  for (const char* strategy : kStrategies)
    for (int servers = 1; servers <= 9; ++servers) {
      const Inventory inventory = inventory_of("lenet");
      const Plan plan = make_plan(inventory, place(strategy, inventory, servers), servers, GetParam());
      std::vector<int> seen(plan.shards.size());
      for (const Bundle& bundle : plan.bundles) {
        std::size_t elements = 0;
        for (const ShardId id : bundle.shards) {
          ++seen[id];
          elements += plan.shards[id].elements();
          ASSERT_EQ(plan.shards[id].server, bundle.server);
        }
        ASSERT_EQ(elements, bundle.elements);
        ASSERT_TRUE(bundle.bytes() <= GetParam() || bundle.shards.size() == 1)
            << "only a lone shard may be larger";
      }
      for (const int times : seen) ASSERT_EQ(times, 1);
    }
}

TEST_P(Plans, NothingOverlapsInTheArena) {
  for (const char* strategy : kStrategies) {
    const Inventory inventory = inventory_of("mlp:50-40-30-10");
    const Plan plan = make_plan(inventory, place(strategy, inventory, 3), 3, GetParam());
    std::vector<int> used(plan.layout.elements);
    const auto use = [&used](std::size_t begin, std::size_t count) {
      for (std::size_t i = begin; i < begin + count; ++i) ++used.at(i);
    };
    for (TensorId id = 0; id < inventory.size(); ++id) use(plan.layout.begin[id], inventory[id].elements());
    for (const Bundle& bundle : plan.bundles) {
      use(bundle.header_begin, kHeaderElements);
      ASSERT_EQ(bundle.header_begin % kHeaderElements, 0U) << "headers lie on cache lines";
      ASSERT_TRUE(bundle.piece || bundle.begin == bundle.header_begin + kHeaderElements)
          << "one contiguous message";
      std::size_t next = bundle.begin;
      for (const ShardId id : bundle.shards) {
        const Shard& shard = plan.shards[id];
        ASSERT_EQ(plan.layout.begin[shard.tensor] + shard.begin, next) << "shards lie one behind the other";
        next += shard.elements();
      }
    }
    for (const int times : used) ASSERT_LE(times, 1);
  }
}

}  // namespace
}  // namespace steelyard::ps
