#pragma once

/// @file
/// A server's end of the conversation with sources that do not share its memory: persistent receives into its
/// inboxes, persistent sends from its outboxes.

#include <span>
#include <vector>

#include "modes/ps/server_memory.hpp"
#include "modes/trial.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard::ps {

/// Something that has become complete at a server.
struct ServerEvent {
  bool push = false;  ///< A push has arrived whole; else a reply has left.
  Reply reply;        ///< Of a push: its source and bundle.
  Header header;      ///< Of a push.
};

class ServerMessages {
 public:
  /// Sets up every request; receives for the first push of every source are started at once.
  ServerMessages(const Session& session, const ServerSide& side, const ServerMemory& memory);

  bool empty() const { return requests_.size() == 0; }
  /// Starts the reply, and before it, unless it is the last one, the receive of the source's next push.
  void start(const Reply& reply);
  /// Adds what has completed to `events`, whose room has been reserved.
  void poll(std::vector<ServerEvent>& events);
  /// As poll, but waits in MPI until a request has completed. At least one must be active.
  void wait(std::vector<ServerEvent>& events, mpi::Wait wait);
  /// Puts a push that has arrived into its inbox, if it travelled in 16 bits.
  void unpack(int source, int bundle);
  /// Most events that one call adds.
  std::size_t most_events() const { return requests_.size(); }

 private:
  struct Transfer {
    int first = 0;  ///< Request; a piece has a second one.
    int count = 0;
    int missing = 0;  ///< Requests not yet complete.
    bool empty() const { return count == 0; }
  };
  /// What a request belongs to.
  struct Owner {
    bool push;
    int source;
    int bundle;
    int copy;
  };

  Transfer add_receive(int source, int bundle);
  Transfer add_send(int source, int bundle, int copy);
  Rank rank_of(int source, int bundle) const;
  BundleId id_of(int bundle) const { return side_.bundles()[static_cast<std::size_t>(bundle)]; }
  /// Memory for the pushes of 16 bits.
  void reserve_packed();
  void start(Transfer& transfer);
  void complete(std::span<const int> requests, std::vector<ServerEvent>& events);
  Transfer& receive_of(int source, int bundle) { return receives_[index(source, bundle)]; }
  Transfer& send_of(int source, int bundle, int copy) {
    return sends_[index(source, bundle) * copies_ + static_cast<std::size_t>(copy)];
  }
  /// A push as it arrives, with a wire of 16 bits.
  std::span<std::uint16_t> packed(int source, int bundle);
  Header header_of(int source, int bundle);
  std::span<float> reply_header(int source, int bundle) {
    return headers_.span().subspan(index(source, bundle) * kHeaderElements, kHeaderElements);
  }
  std::size_t index(int source, int bundle) const {
    return static_cast<std::size_t>(source) * side_.bundles().size() + static_cast<std::size_t>(bundle);
  }

  const Session& session_;
  const ServerSide& side_;
  const ServerMemory& memory_;
  std::size_t copies_;
  Wire wire_;
  AlignedArray<std::uint16_t> packed_;
  std::vector<std::size_t> packed_begin_;  ///< [sources, bundles] in packed_.
  mpi::Requests requests_;
  std::vector<Owner> owners_;           ///< [requests]
  std::vector<Transfer> receives_;      ///< [sources, bundles], empty for those that send no messages.
  std::vector<Transfer> sends_;         ///< [sources, bundles, copies]
  std::vector<std::int64_t> versions_;  ///< [bundles, copies] in the header before the values.
  AlignedArray<float> headers_;         ///< [sources, bundles] of replies whose header travels alone.
};

Header make_header(const Reply& reply, BundleId bundle);

/// Tag of a bundle's message: its header with, if it is whole, its elements; of a piece, the elements alone.
int header_tag(BundleId bundle);
int elements_tag(BundleId bundle);

}  // namespace steelyard::ps
