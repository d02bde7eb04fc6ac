#pragma once

/// @file
/// A server's end of the conversation with every worker, by memory where they share some, else by messages.

#include <span>
#include <vector>

#include "modes/ps/server_messages.hpp"

namespace steelyard::ps {

class ServerChannel {
 public:
  /// @param bundles the server's, in its own numbering. @param node null where nothing is shared.
  ServerChannel(const Session& session, const Plan& plan, int server, const ServerMemory& memory, int copies,
                const NodeMemory* node);

  /// Starts the reply. @return whether it has left already.
  bool start(const Reply& reply);
  /// Before a push is given to the server: puts its gradient where the server sums it.
  void unpack(int worker, int bundle) {
    if (!shares(worker)) messages_.unpack(worker, bundle);
  }
  Moved pushed(int worker, int bundle) const {
    return shares(worker) ? of(bundle).shared() : of(bundle).pushed(wire_);
  }
  Moved pulled(int worker, int bundle) const {
    return shares(worker) ? of(bundle).shared() : of(bundle).pulled();
  }
  /// Waits until something has happened; something must be under way. What the next forward pass of a worker
  /// needs first comes first. Valid until the next call.
  std::span<const ServerEvent> wait();

 private:
  /// A worker of this node.
  struct Neighbour {
    int worker;
    Mailbox pushes;
    Mailbox replies;
    std::span<float> values;  ///< Its arena to write into; none where it reads the server's.
  };

  bool shares(int worker) const {
    return neighbour_of_worker_[static_cast<std::size_t>(worker)] != Roles::kNone;
  }
  const Bundle& of(int bundle) const { return plan_.bundles[bundles_[static_cast<std::size_t>(bundle)]]; }
  void poll();
  void poll(Neighbour& neighbour);

  const Session& session_;
  const Plan& plan_;
  std::span<const BundleId> bundles_;
  const ServerMemory& memory_;
  Wire wire_;
  ServerMessages messages_;
  std::vector<Neighbour> neighbours_;
  std::vector<int> neighbour_of_worker_;  ///< [workers] or none.
  std::vector<int> number_of_bundle_;     ///< [bundles of the plan] in the server's numbering.
  std::vector<ServerEvent> events_;
};

}  // namespace steelyard::ps
