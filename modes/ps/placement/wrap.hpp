#pragma once

/// @file
/// McNaughton's rule on what is left.

#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

/// Fills server after server up to its share of `total` bytes with the tensors in the order `order`, and cuts
/// a tensor where a server is full: at most S - 1 cuts, and no load above its share by more than an element.
/// Shards are appended in that order.
/// @param servers may bear something already; that counts.
void wrap(const Inventory& inventory, std::span<const std::size_t> order, std::size_t total, Servers& servers,
          std::vector<Shard>& shards);

}  // namespace steelyard::ps
