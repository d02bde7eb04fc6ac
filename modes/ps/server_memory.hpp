#pragma once

/// @file
/// Where a server's values lie, and the gradients that it sums.

#include <span>
#include <vector>

#include "modes/ps/node_memory.hpp"
#include "modes/ps/server.hpp"

namespace steelyard::ps {

/// A server, and who talks to it.
struct ServerSide {
  const Plan& plan;
  int server = 0;
  std::vector<Source> sources;       ///< Who push to it.
  int copies = 1;                    ///< Of its values.
  const NodeMemory* node = nullptr;  ///< Null where nothing is shared.

  /// The server's, in the order of its own numbering.
  std::span<const BundleId> bundles() const {
    return plan.bundles_of_server[static_cast<std::size_t>(server)];
  }
  const Bundle& bundle(int number) const { return plan.bundles[bundles()[static_cast<std::size_t>(number)]]; }
  const Source& source(int number) const { return sources[static_cast<std::size_t>(number)]; }
  /// Whether the source is a worker of the server's node and shares memory with it.
  bool shares(int source) const;
  bool in_place() const { return node != nullptr && node->in_place(); }
};

/// Of one bundle: a header slot, and the elements. Unless the bundle is a piece these follow the header, so
/// that both are one message.
struct Place {
  std::span<float> header;
  std::span<float> elements;
  /// Both, where they are one message.
  std::span<float> whole() const { return {header.data(), header.size() + elements.size()}; }
};

/// Inboxes for sources that send messages; for those that share memory, their own gradient arenas. Values in
/// the arena that the node's workers read, or else in memory of the server's own.
class ServerMemory {
 public:
  /// @param side borrowed.
  explicit ServerMemory(const ServerSide& side);

  Place inbox(int source, int bundle) const;
  Place outbox(int copy, int bundle) const;
  /// What the server sums and updates.
  std::vector<BundleMemory> views() const;

 private:
  Place own(std::size_t begin, std::size_t elements) const;
  Place in_arena(std::span<float> arena, int bundle) const;

  const ServerSide& side_;
  mutable AlignedArray<float> memory_;
  std::vector<std::size_t> inboxes_;   ///< [bundles, sources] begin in memory_; of those that send messages.
  std::vector<std::size_t> outboxes_;  ///< [bundles, copies]
};

}  // namespace steelyard::ps
