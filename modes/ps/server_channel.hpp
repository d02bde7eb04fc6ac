#pragma once

/// @file
/// A server's end of the conversation with every source, by memory where they share some, else by messages.

#include <span>
#include <vector>

#include "modes/ps/server_messages.hpp"

namespace steelyard::ps {

class ServerChannel {
 public:
  /// @param side borrowed, as are the others.
  ServerChannel(const Session& session, const ServerSide& side, const ServerMemory& memory);

  /// Starts the reply. @return whether it has left already.
  bool start(const Reply& reply);
  /// Before a push is given to the server: puts its gradient where the server sums it.
  void unpack(int source, int bundle) {
    if (!shares(source)) messages_.unpack(source, bundle);
  }
  Moved pushed(int source, int bundle) const {
    return shares(source) ? of(bundle).shared() : of(bundle).pushed(wire_);
  }
  Moved pulled(int source, int bundle) const {
    return shares(source) ? of(bundle).shared() : of(bundle).pulled();
  }
  /// Waits until something has happened; something must be under way. What the next forward pass of a worker
  /// needs first comes first. Valid until the next call.
  std::span<const ServerEvent> wait();

 private:
  /// A worker of this node that is a source of its own.
  struct Neighbour {
    int source;
    Mailbox pushes;
    Mailbox replies;
    std::span<float> values;  ///< Its arena to write into; none where it reads the server's.
  };

  bool shares(int source) const {
    return neighbour_of_source_[static_cast<std::size_t>(source)] != Roles::kNone;
  }
  const Bundle& of(int bundle) const { return side_.bundle(bundle); }
  void poll();
  void poll(Neighbour& neighbour);

  const Session& session_;
  const ServerSide& side_;
  const ServerMemory& memory_;
  Wire wire_;
  ServerMessages messages_;
  std::vector<Neighbour> neighbours_;
  std::vector<int> neighbour_of_source_;  ///< [sources] or none.
  std::vector<int> number_of_bundle_;     ///< [bundles of the plan] in the server's numbering.
  std::vector<ServerEvent> events_;
};

}  // namespace steelyard::ps
