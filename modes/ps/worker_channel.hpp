#pragma once

/// @file
/// A worker's end of the conversation with every server, by memory where they share some, else by messages.

#include <span>
#include <vector>

#include "modes/ps/node_memory.hpp"
#include "modes/trial.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard::ps {

class WorkerChannel {
 public:
  /// New values of a bundle are in the value arena, and its gradient may be overwritten.
  struct Arrival {
    BundleId bundle = 0;
    std::int64_t version = 0;
  };

  /// @param node null where nothing is shared. `parameters` has its arenas if it is not.
  WorkerChannel(const Session& session, const Plan& plan, Parameters& parameters, int worker,
                const NodeMemory* node);

  /// Starts the push of a bundle whose gradient is final and whose last reply has arrived.
  void push(BundleId id, const Header& header);
  /// Gives the transfers a chance to move. Valid until the next call.
  std::span<const Arrival> poll();
  /// As poll, but waits until there is one; a push must be unanswered.
  std::span<const Arrival> wait();
  /// Nothing travels in messages, so a poll sees all there is to see.
  bool by_memory_alone() const { return requests_.size() == 0; }
  Moved pushed(BundleId id) const {
    return shares(id) ? plan_.bundles[id].shared() : plan_.bundles[id].pushed(wire_);
  }
  Moved pulled(BundleId id) const {
    return shares(id) ? plan_.bundles[id].shared() : plan_.bundles[id].pulled();
  }

 private:
  /// A bundle's requests, receives before sends; none where its server shares memory.
  struct Exchange {
    int first = 0;
    int requests = 0;
    int missing = 0;         ///< Not yet complete.
    std::size_t packed = 0;  ///< With a wire of 16 bits: where its push begins in packed_.
  };
  struct Neighbour {
    Mailbox pushes;
    Mailbox replies;
  };

  bool shares(BundleId id) const { return exchanges_[id].requests == 0; }
  void add_requests(BundleId id);
  void add_push(BundleId id, Rank server);
  /// A push as it leaves, with a wire of 16 bits.
  std::span<std::uint16_t> packed(BundleId id);
  void complete(std::span<const int> requests);
  void accept(const Header& header, BundleId bundle);

  const Session& session_;
  const Plan& plan_;
  Parameters& parameters_;
  Wire wire_;
  AlignedArray<std::uint16_t> packed_;
  mpi::Requests requests_;
  std::vector<BundleId> bundle_of_request_;
  std::vector<Exchange> exchanges_;  ///< [bundles]
  std::vector<Neighbour> neighbours_;
  std::vector<int> neighbour_of_server_;  ///< [servers] or none.
  std::vector<Arrival> arrivals_;
};

}  // namespace steelyard::ps
