#pragma once

/// @file
/// A server's end of the conversation: persistent receives into its inboxes, persistent sends from its
/// outboxes.

#include <span>
#include <vector>

#include "modes/ps/plan.hpp"
#include "modes/ps/server.hpp"
#include "modes/trial.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard::ps {

/// Tag of a bundle's message: its header with, if it is whole, its elements; of a piece, the elements alone.
int header_tag(BundleId bundle);
int elements_tag(BundleId bundle);

class ServerChannel {
 public:
  /// Something that has become complete.
  struct Event {
    bool push = false;  ///< A push has arrived whole; else a reply has left.
    Reply reply;        ///< Of a push: its worker and bundle.
  };

  /// Sets up every request; receives for the first push of every worker are started at once.
  /// @param bundles the server's, in its own numbering.
  ServerChannel(const Session& session, const Plan& plan, std::span<const BundleId> bundles, Server& server,
                int copies);

  /// Starts the reply, and before it, unless it answers the last step, the receive of the worker's next push.
  void start(const Reply& reply);
  /// Waits for something to complete. At least one request must be active. Valid until the next call.
  std::span<const Event> wait();

 private:
  struct Transfer {
    int first = 0;  ///< Request; a piece has a second one.
    int count = 0;
    int missing = 0;  ///< Requests not yet complete.
  };
  /// What a request belongs to.
  struct Owner {
    bool push;
    int worker;
    int bundle;
    int copy;
  };

  Transfer add_receive(const Bundle& bundle, BundleId id, int worker, int number);
  Transfer add_send(const Bundle& bundle, BundleId id, int worker, int number, int copy);
  void start(Transfer& transfer);
  Transfer& receive_of(int worker, int bundle) { return receives_[index(worker, bundle)]; }
  Transfer& send_of(int worker, int bundle, int copy) {
    return sends_[index(worker, bundle) * copies_ + static_cast<std::size_t>(copy)];
  }
  std::size_t index(int worker, int bundle) const {
    return static_cast<std::size_t>(worker) * bundles_ + static_cast<std::size_t>(bundle);
  }

  const Session& session_;
  Server& server_;
  std::size_t bundles_;
  std::size_t copies_;
  mpi::Requests requests_;
  std::vector<Owner> owners_;       ///< [requests]
  std::vector<Transfer> receives_;  ///< [workers, bundles]
  std::vector<Transfer> sends_;     ///< [workers, bundles, copies]
  std::vector<Event> events_;
};

}  // namespace steelyard::ps
