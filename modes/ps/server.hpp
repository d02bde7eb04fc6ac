#pragma once

/// @file
/// The parameter server as a state machine: pushes in, replies out, no communication. Tests feed it every
/// interleaving without MPI.

#include <cstdint>
#include <span>
#include <vector>

#include "modes/ps/consistency/consistency.hpp"
#include "modes/ps/message.hpp"
#include "src/base/aligned.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard::ps {

/// What a server needs to know beside its bundles. To it the workers of a node that sum before they push are
/// one worker.
struct ServerOptions {
  int workers = 1;
  int first_reply = 0;  ///< Replies that are due together begin with this worker and rotate.
  /// Copies of the values: with two, an update can be written while the values before it are still being
  /// sent.
  int copies = 1;
  bool in_worker_order = false;  ///< Sum the pushes of an update in worker order, not in order of arrival.
};

/// An order to send copy `copy` of the values of bundle `bundle` to `worker`.
struct Reply {
  int worker = 0;
  int bundle = 0;
  int copy = 0;
  Clock clock = 0;           ///< The worker's steps, completed at this bundle.
  std::int64_t version = 0;  ///< Of the values.
};

/// Memory of one bundle, borrowed.
struct BundleMemory {
  std::vector<std::span<float>> values;           ///< [copies] the first one holds the initial values.
  std::vector<std::span<const float>> gradients;  ///< [workers] where the pushes of each are left.
};

/// How many pushes were that stale when applied, from one worker at one bundle.
struct StalenessCount {
  std::int64_t staleness = 0;
  std::uint64_t count = 0;
  std::int64_t age_ns = 0;  ///< Sum.
};

/// Owns optimizer state and clocks of one server's bundles, numbered 0, 1, ... here.
class Server {
 public:
  /// @param ids the plan's number of each bundle. @param memory of each bundle.
  Server(const ServerOptions& options, const Optimizer& optimizer, const Consistency& consistency,
         std::span<const BundleId> ids, std::vector<BundleMemory> memory);

  /// The present values.
  std::span<const float> values(int bundle) const;

  /// A whole push is where `worker` leaves those of `bundle`. Adds to due().
  void receive(int worker, int bundle, const Header& header, std::int64_t now_ns);
  /// A reply has left its outbox. Adds to due() where an update waited for that.
  void sent(const Reply& reply, std::int64_t now_ns);

  /// Replies to start now; the worker's next push may overwrite its last. Empty it after starting them.
  std::vector<Reply>& due() { return due_; }

  std::uint64_t pushes() const { return pushes_; }
  std::uint64_t applied() const { return applied_; }  ///< Pushes that are part of an update.
  std::uint64_t updates() const { return updates_; }
  int waiting() const { return waiting_; }  ///< Pushes received and not yet applied.
  std::int64_t version(int bundle) const { return slots_[static_cast<std::size_t>(bundle)].version; }
  Clock clock(int worker, int bundle) const {
    return slots_[static_cast<std::size_t>(bundle)].clocks[static_cast<std::size_t>(worker)];
  }
  /// Greatest spread of versions among the values that `worker` read last from this server.
  std::int64_t skew(int worker) const;
  std::vector<StalenessCount>& staleness(int worker, int bundle);

 private:
  struct Slot {
    BundleId id = 0;
    BundleMemory memory;
    AlignedArray<float> state;
    AlignedArray<float> sum;            ///< Of more pushes than one pass adds.
    std::vector<Clock> clocks;          ///< [workers] steps pushed.
    std::vector<std::int64_t> read;     ///< [workers] version sent last.
    std::vector<std::int64_t> read_ns;  ///< [workers] when.
    std::vector<bool> unanswered;       ///< [workers]
    std::vector<int> arrived;           ///< Workers whose push is not yet part of an update, as they came.
    std::vector<const float*> parts;    ///< What the next update sums: `sum` if it is used, then pushes.
    std::vector<int> in_flight;         ///< [copies] replies being sent.
    std::vector<std::vector<StalenessCount>> staleness;  ///< [workers]
    int copy = 0;                                        ///< Holds the present values.
    int summed = 0;                                      ///< Pushes in `parts`.
    std::int64_t version = 0;
  };

  void advance(int bundle, std::int64_t now_ns);
  /// @return position in slot.arrived of the push to add next, or -1.
  int next_push(const Slot& slot) const;
  /// @return a copy that no reply is being sent from, the present one first, or -1.
  int writable_copy(const Slot& slot) const;
  void add_to_sum(Slot& slot, int worker, std::int64_t now_ns);
  void apply(Slot& slot, int copy);
  void answer(int bundle, std::int64_t now_ns);

  ServerOptions options_;
  const Optimizer& optimizer_;
  const Consistency& consistency_;
  int pushes_per_update_;
  std::vector<Slot> slots_;
  std::vector<Reply> due_;
  std::uint64_t pushes_ = 0;
  std::uint64_t applied_ = 0;
  std::uint64_t updates_ = 0;
  int waiting_ = 0;
};

}  // namespace steelyard::ps
