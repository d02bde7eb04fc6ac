#include "modes/ps/plan.hpp"

#include <gtest/gtest.h>

#include "src/model/model.hpp"

namespace steelyard::ps {
namespace {

// With cut tensors and without.
constexpr const char* kStrategies[] = {"round_robin", "largest_first", "range", "p3", "striped", "byteps"};

std::vector<Shard> place(const char* name, const Inventory& inventory, int servers) {
  PlacementOptions options;
  options.servers = servers;
  options.slice_elements = 1000;
  options.part_bytes = 2000;
  return ps::place(name, inventory, options).value().shards;
}

Inventory inventory_of(const char* model) { return describe_model(model).value().inventory; }

TEST(Pieces, LargeShardsAreCutIntoEqualPiecesForTheSameServer) {
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
