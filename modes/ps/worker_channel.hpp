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
  /// Messages that a push of the bundle is, and its reply.
  int messages(BundleId id) const { return exchanges_[id].requests > 0 ? exchanges_[id].requests / 2 : 1; }

 private:
  /// A bundle's requests, receives before sends; none where its server shares memory.
  struct Exchange {
    int first = 0;
    int requests = 0;
    int missing = 0;  ///< Not yet complete.
  };
  struct Neighbour {
    int server;
    Mailbox pushes;
    Mailbox replies;
  };

  void add_requests(BundleId id);
  void complete(std::span<const int> requests);
  void accept(const Header& header, BundleId bundle);

  const Session& session_;
  const Plan& plan_;
  Parameters& parameters_;
  mpi::Requests requests_;
  std::vector<BundleId> bundle_of_request_;
  std::vector<Exchange> exchanges_;  ///< [bundles]
  std::vector<Neighbour> neighbours_;
  std::vector<int> neighbour_of_server_;  ///< [servers] or none.
  std::vector<Arrival> arrivals_;
};

}  // namespace steelyard::ps
