#pragma once

/// @file
/// Placements and inventories for tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "modes/ps/placement/load.hpp"
#include "src/base/random.hpp"
#include "src/model/inventory_file.hpp"

namespace steelyard::ps::test {

inline constexpr std::string_view kWhole[] = {"round_robin", "hash", "greedy", "largest_first", "optimal"};
inline constexpr std::string_view kCutting[] = {"striped",         "wrap",        "range",       "mxnet",
                                                "tf_fixed_shards", "tf_min_size", "tf_max_size", "p3",
                                                "paddle",          "byteps",      "paa",         "explicit"};

inline bool is_whole(std::string_view name) { return std::ranges::find(kWhole, name) != std::end(kWhole); }

inline Inventory stored(std::string_view model) { return read_inventory(model).value().inventory; }

/// So many servers; an explicit placement that leaves most to another.
inline PlacementOptions on(int servers) {
  PlacementOptions options;
  options.servers = servers;
  options.rules = "tensor-7 0\nfallback p3\n";
  options.time_limit_s = 0.05;
  return options;
}

inline Placed placed(std::string_view name, const Inventory& inventory, const PlacementOptions& options) {
  auto result = place(name, inventory, options);
  EXPECT_TRUE(result) << name << ": " << (result ? "" : result.error().message);
  return result ? std::move(result).value() : Placed{};
}

inline double uneven(std::string_view name, const Inventory& inventory, const PlacementOptions& options) {
  return max_over_mean(inventory, placed(name, inventory, options).shards, options);
}

/// Fails unless every element has exactly one owner that there is.
inline void expect_one_owner(const Inventory& inventory, const std::vector<Shard>& shards, int servers) {
  std::vector<std::size_t> next(inventory.size());
  TensorId last = 0;
  for (const Shard& shard : shards) {
    ASSERT_LT(shard.tensor, inventory.size());
    ASSERT_GE(shard.tensor, last) << "ordered by tensor";
    last = shard.tensor;
    ASSERT_EQ(shard.begin, next[last]) << "neither gap nor overlap";
    ASSERT_LT(shard.begin, shard.end) << "no empty shard";
    ASSERT_GE(shard.server, 0);
    ASSERT_LT(shard.server, servers);
    next[last] = shard.end;
  }
  for (TensorId id = 0; id < inventory.size(); ++id) ASSERT_EQ(next[id], inventory[id].elements());
}

/// `count` vectors of sizes in [least, least + spread).
inline Inventory random_vectors(std::size_t count, std::uint64_t seed, std::size_t least,
                                std::size_t spread) {
  Inventory inventory;
  for (std::size_t i = 0; i < count; ++i)
    inventory.push_back({"tensor-" + std::to_string(i), {least + random_bits(seed, 1, i) % spread}});
  return inventory;
}

/// Scalars, axes of 1, and sizes over five powers of ten.
inline Inventory random_shapes(std::size_t count, std::uint64_t seed) {
  Inventory inventory;
  for (std::size_t i = 0; i < count; ++i) {
    Tensor tensor{"tensor-" + std::to_string(i), {}};
    for (std::uint64_t axis = 0; axis < random_bits(seed, 2, i) % 4; ++axis) {
      const std::uint64_t bits = random_bits(seed, 3 + axis, i);
      tensor.shape.push_back(bits % 5 == 0 ? 1 : 1 + (bits >> 8U) % (std::size_t{2} << (2 * (bits % 4))));
    }
    inventory.push_back(std::move(tensor));
  }
  return inventory;
}

}  // namespace steelyard::ps::test
