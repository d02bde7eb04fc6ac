#pragma once

/// @file
/// The communication plan: what travels in which message, and where it lies. Pure: workers and servers derive
/// the same plan from the placement, so nothing is negotiated.

#include <vector>

#include "modes/ps/message.hpp"
#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

/// Shards of one server that travel together.
struct Bundle {
  int server = 0;
  std::vector<ShardId> shards;  ///< In the order in which they lie.
  bool piece = false;  ///< Its header travels in a message of its own: so of a piece cut from a tensor.
  std::size_t elements = 0;
  std::size_t header_begin = 0;  ///< In a worker's arenas, in floats.
  std::size_t begin = 0;         ///< Of the elements; right behind the header unless a piece.

  std::size_t bytes() const { return elements * sizeof(float); }
  int messages() const { return piece ? 2 : 1; }
  /// Between ranks that do not share memory: a push (its header rides along if it is packed anyway), a reply.
  Moved pushed(Wire wire) const {
    return {elements * wire_bytes(wire), wire == Wire::fp32 ? static_cast<std::uint32_t>(messages()) : 1};
  }
  Moved pulled() const { return {bytes(), static_cast<std::uint32_t>(messages())}; }
  /// Between those that do: either.
  Moved shared() const { return {bytes(), 1}; }
};

struct Plan {
  std::vector<Shard> shards;
  std::vector<Bundle> bundles;                           ///< In the order in which backward makes them ready.
  std::vector<std::vector<BundleId>> bundles_of_tensor;  ///< [tensors]
  std::vector<std::vector<BundleId>>
      bundles_of_server;  ///< [servers]; none where a placement gives it nothing.
  Layout layout;          ///< Of a worker's arenas.
};

/// Cuts shards of more than `piece_bytes` into equal pieces of at most that, in whole cache lines, for the
/// same server. So the push of one piece, the update of another and the reply of a third go on at the same
/// time.
/// @param piece_bytes at least a cache line.
std::vector<Shard> cut_large(const std::vector<Shard>& shards, std::size_t piece_bytes);

/// Tensors become ready in reverse creation order. The whole tensors of one server ride together, at most
/// `bundle_bytes` in a bundle; a larger tensor rides alone; a piece cut from a tensor too.
/// Whole tensors lie behind their bundle's header without gaps, the largest first.
/// @param headers_apart every header travels in a message of its own, so that a server can tell each worker
/// something else of the same values.
Plan make_plan(const Inventory& inventory, std::vector<Shard> shards, int servers, std::size_t bundle_bytes,
               bool headers_apart = false);

/// Initial values of a bundle's elements [bundle.elements].
void initial_values(const Inventory& inventory, const Plan& plan, const Bundle& bundle, std::uint64_t seed,
                    std::span<float> values);

}  // namespace steelyard::ps
