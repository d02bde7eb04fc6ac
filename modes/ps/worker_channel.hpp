#pragma once

/// @file
/// A worker's end of the conversation with every server, by memory where they share some, else by messages,
/// alone or together with the other workers of its node.

#include <span>
#include <vector>

#include "modes/ps/node_memory.hpp"
#include "modes/trial.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard::ps {

/// A worker, and how servers know it.
struct WorkerSide {
  const Plan& plan;
  int worker = 0;
  std::vector<int> source_at;  ///< [servers] its number, or its node's, among the server's sources.
  std::vector<std::vector<int>> worker_of_source;  ///< [servers, sources] the first worker of each source.
  const NodeMemory* node = nullptr;                ///< Null where nothing is shared.
};

class WorkerChannel {
 public:
  /// New values of a bundle are in the value arena, and its gradient may be overwritten.
  struct Arrival {
    BundleId bundle = 0;
    std::int64_t version = 0;
    int completed_by = 0;     ///< Source, in the server's numbering, whose push let the read be answered.
    std::uint32_t flags = 0;  ///< Of the reply.
  };

  /// All are borrowed. `parameters` has the arenas of the node's memory where there is one.
  WorkerChannel(const Session& session, const WorkerSide& side, Parameters& parameters);

  /// Starts the push of a bundle whose gradient is final and whose last reply has arrived.
  void push(BundleId id, const Header& header);
  /// Gives the transfers a chance to move. Valid until the next call.
  std::span<const Arrival> poll();
  /// Pushes a header that is not answered, with whatever the gradient is: for the end of a conversation.
  void say_nothing(BundleId id, const Header& header);
  /// As poll, but waits until there is one; a push must be unanswered.
  std::span<const Arrival> wait();
  /// Nothing travels in messages of this worker, so a poll sees all there is to see.
  bool by_memory_alone() const { return requests_.size() == 0; }
  /// What a push moves from this worker to the server: nothing where another one speaks for it.
  Moved pushed(BundleId id) const;
  Moved pulled(BundleId id) const;

 private:
  /// How a bundle reaches its server.
  enum class Route : std::uint8_t {
    memory,   ///< The server reads it.
    message,  ///< In messages of this worker.
    speaks,   ///< In messages of this worker, for all of its node.
    follows,  ///< In messages of another worker of this node.
  };
  /// Requests, receives before sends; none where the worker sends no messages.
  struct Exchange {
    Route route = Route::message;
    int first = 0;
    int requests = 0;
    int missing = 0;         ///< Not yet complete.
    std::size_t packed = 0;  ///< With a wire of 16 bits: where its push begins in packed_.
  };
  struct Neighbour {
    Mailbox pushes;
    Mailbox replies;
  };

  const Bundle& bundle(BundleId id) const { return side_.plan.bundles[id]; }
  Route route_of(BundleId id) const;
  bool sends(BundleId id) const {
    return exchanges_[id].route == Route::message || exchanges_[id].route == Route::speaks;
  }
  void add_requests(BundleId id);
  void add_push(BundleId id, Rank server);
  /// A push as it leaves, with a wire of 16 bits.
  std::span<std::uint16_t> packed(BundleId id);
  /// What is sent: the worker's gradients, or those of its node.
  std::span<float> outgoing() const { return gradients_.front(); }
  /// Puts a push where its messages are sent from.
  void write_push(BundleId id, const Header& header);
  void send(BundleId id, const Header& header);
  void sum(BundleId id);
  /// Moves a push of the node on. @return whether this worker has nothing more to do for it.
  bool advance(const Header& header);
  void complete(std::span<const int> requests);
  void accept(const Header& header, BundleId bundle);

  const Session& session_;
  const WorkerSide& side_;
  Parameters& parameters_;
  Wire wire_;
  AlignedArray<std::uint16_t> packed_;
  mpi::Requests requests_;
  std::vector<BundleId> bundle_of_request_;
  std::vector<Exchange> exchanges_;  ///< [bundles]
  std::vector<Neighbour> neighbours_;
  std::vector<int> neighbour_of_server_;     ///< [servers] or none.
  std::vector<std::span<float>> gradients_;  ///< Arenas of all workers of the node that sums, or its own.
  std::vector<const float*> parts_;          ///< Of a bundle, one in each of these.
  std::vector<Header> together_;             ///< Pushes of the node that wait for its other workers.
  std::vector<Arrival> arrivals_;
};

}  // namespace steelyard::ps
