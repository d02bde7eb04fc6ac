#pragma once

/// @file
/// Where a server's values lie, and the gradients that it sums.

#include <span>
#include <vector>

#include "modes/ps/node_memory.hpp"
#include "modes/ps/server.hpp"

namespace steelyard::ps {

/// Of one bundle: a header slot, and the elements. Unless the bundle is a piece these follow the header, so
/// that both are one message.
struct Place {
  std::span<float> header;
  std::span<float> elements;
  /// Both, where they are one message.
  std::span<float> whole() const { return {header.data(), header.size() + elements.size()}; }
};

/// Inboxes for workers that send messages; for those that share memory, their own gradient arenas. Values in
/// the arena that the node's workers read, or else in memory of the server's own.
class ServerMemory {
 public:
  /// @param bundles the server's, in its own numbering. @param node null where nothing is shared.
  ServerMemory(const Plan& plan, std::span<const BundleId> bundles, int workers, int copies,
               const NodeMemory* node);

  Place inbox(int worker, int bundle) const;
  Place outbox(int copy, int bundle) const;
  /// What the server sums and updates.
  std::vector<BundleMemory> views() const;

 private:
  Place own(std::size_t begin, std::size_t elements) const;
  Place in_arena(std::span<float> arena, int bundle) const;
  bool shares(int worker) const { return node_ != nullptr && node_->has_worker(worker); }

  const Plan& plan_;
  std::span<const BundleId> bundles_;
  int workers_;
  int copies_;
  const NodeMemory* node_;
  mutable AlignedArray<float> memory_;
  std::vector<std::size_t> inboxes_;   ///< [bundles, workers] begin in memory_; of those that send messages.
  std::vector<std::size_t> outboxes_;  ///< [bundles, copies]
};

}  // namespace steelyard::ps
