// What holds for every placement, whatever the model.
#include <sstream>

#include "tests/support/placements.hpp"

namespace steelyard::ps {
namespace {

void expect_laws(const Inventory& inventory, int servers) {
  const PlacementOptions options = test::on(servers);
  for (const std::string_view name : placement_names()) {
    SCOPED_TRACE(std::string(name) + " on " + std::to_string(servers));
    const Placed placed = test::placed(name, inventory, options);
    test::expect_one_owner(inventory, placed.shards, servers);
    if (test::is_whole(name)) {
      ASSERT_EQ(placed.shards.size(), inventory.size()) << "whole tensors are never cut";
    }
    if (name == "wrap") {
      ASSERT_LT(placed.shards.size(), inventory.size() + static_cast<std::size_t>(servers)) << "S - 1 cuts";
    }
    ASSERT_EQ(place(name, inventory, options).value().shards, placed.shards) << "a pure function";
    if (testing::Test::HasFatalFailure()) return;
  }
}

void expect_laws_on_all(const Inventory& inventory) {
  for (int servers = 1; servers <= 64; ++servers) {
    expect_laws(inventory, servers);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(PlacementLaws, EveryNameIsTested) {
  EXPECT_EQ(placement_names().size(), std::size(test::kWhole) + std::size(test::kCutting));
  for (const std::string_view name : test::kWhole) EXPECT_TRUE(find_placement(name)) << name;
  for (const std::string_view name : test::kCutting) EXPECT_TRUE(find_placement(name)) << name;
}

TEST(PlacementLaws, OneOwnerForRandomModels) {
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    expect_laws_on_all(test::random_shapes(1 + random_bits(seed, 0, 0) % 40, seed));
}

TEST(PlacementLaws, OneOwnerForOneScalar) { expect_laws_on_all({{"tensor-0", {}}}); }

TEST(PlacementLaws, OneOwnerForOneTensor) {
  expect_laws_on_all({{"tensor-0", {1, 3, 1}}});
  expect_laws_on_all({{"tensor-0", {7919, 131}}});
}

TEST(PlacementLaws, OneOwnerForScalarsAlone) {
  for (const std::size_t count : {2U, 7U, 65U})
    expect_laws_on_all(Inventory(test::random_vectors(count, 1, 1, 1)));
}

TEST(PlacementLaws, OneOwnerForTenThousandTensors) {
  const Inventory inventory = test::random_shapes(10'000, 9);
  for (const int servers : {1, 3, 8, 64}) expect_laws(inventory, servers);
}

TEST(PlacementLaws, OneOwnerForAThousandServers) { expect_laws(test::stored("lenet"), 1000); }

TEST(PlacementLaws, NoWholeTensorPlacementBeatsOptimal) {
  // Compared exactly: by the bytes of the fullest server.
  const auto fullest = [](std::string_view name, const Inventory& inventory, int servers) {
    const auto shards = test::placed(name, inventory, test::on(servers)).shards;
    return std::ranges::max(server_bytes(inventory, shards, servers));
  };
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const int servers : {2, 3, 5, 8, 13}) {
      const Inventory inventory = test::random_vectors(3 + random_bits(seed, 9, 0) % 40, seed, 1, 5000);
      const std::size_t best = fullest("optimal", inventory, servers);
      for (const std::string_view name : test::kWhole)
        EXPECT_LE(best, fullest(name, inventory, servers)) << name << " on " << servers << ", seed " << seed;
    }
}

TEST(PlacementLaws, WrapIsEvenToAnElement) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const int servers : {2, 7, 16, 64}) {
      const Inventory inventory = test::random_shapes(30, seed);
      const auto bytes =
          server_bytes(inventory, test::placed("wrap", inventory, test::on(servers)).shards, servers);
      const std::size_t mean = total_bytes(inventory) / static_cast<std::size_t>(servers);
      EXPECT_LE(std::ranges::max(bytes), mean + element_bytes(inventory.front())) << servers;
    }
}

TEST(PlacementLaws, StripedAndWrapKeepTheirBoundsOnEveryStoredModel) {
  std::istringstream names(inventory_names());
  for (std::string model; std::getline(names >> std::ws, model, ',');) {
    const Inventory inventory = test::stored(model);
    for (const int servers : {2, 4, 8, 16}) {
      SCOPED_TRACE(model + " on " + std::to_string(servers));
      const PlacementOptions options = test::on(servers);
      const Placed striped = test::placed("striped", inventory, options);
      EXPECT_LE(max_over_mean(inventory, striped.shards, options), 1.02);
      EXPECT_LE(striped.shards.size(), 4 * static_cast<std::size_t>(servers) + inventory.size());
      const Placed wrap = test::placed("wrap", inventory, options);
      EXPECT_LE(max_over_mean(inventory, wrap.shards, options), 1.001);
      EXPECT_LT(wrap.shards.size(), inventory.size() + static_cast<std::size_t>(servers));
    }
  }
}

// As many as the cuts allow, the largest first, though whole tensors alone would be even.
TEST(PlacementLaws, StripedCutsLargeTensorsOverAllServers) {
  const Inventory inventory = test::stored("googlenet");
  const Placed placed = test::placed("striped", inventory, test::on(4));
  std::vector<std::size_t> shards(inventory.size());
  for (const Shard& shard : placed.shards) ++shards[shard.tensor];
  const std::vector<std::size_t> order = largest_first_order(inventory);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(shards[order[i]], i < 5 ? 4U : 1U) << i;
  // Parts below 64 KiB are not worth a message of their own.
  for (const Shard& shard : test::placed("striped", test::stored("lenet"), test::on(2)).shards)
    EXPECT_TRUE(shard.tensor == 4 || shard.tensor == 6 || shard.begin == 0) << shard.tensor;
}

TEST(PlacementLaws, StripedIsEvenWhereverElementsAllowIt) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const int servers : {2, 3, 8, 16, 31}) {
      // A mean of at least 1,000 elements, so that one of them is no matter.
      const Inventory inventory =
          test::random_vectors(1 + random_bits(seed, 8, 0) % 60, seed, 31'000, 1U << (seed % 24));
      const Placed placed = test::placed("striped", inventory, test::on(servers));
      EXPECT_LE(max_over_mean(inventory, placed.shards, test::on(servers)), 1.02) << servers << " " << seed;
      EXPECT_LE(placed.shards.size(), 4 * static_cast<std::size_t>(servers) + inventory.size());
    }
}

}  // namespace
}  // namespace steelyard::ps
