#pragma once

/// @file
/// The parameter server as a state machine: pushes in, replies out, no communication. Tests feed it every
/// interleaving without MPI.

#include <cstdint>
#include <span>
#include <vector>

#include "modes/ps/consistency/consistency.hpp"
#include "modes/ps/message.hpp"
#include "modes/ps/staleness/experience.hpp"
#include "src/base/aligned.hpp"
#include "src/optim/optimizer.hpp"
#include "src/trace/rows.hpp"

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
  bool recompute = false;        ///< A worker whose push was dropped for staleness pushes that step again.
};

/// How a server decides. Borrowed.
struct Rules {
  const Optimizer& optimizer;
  const Consistency& consistency;
  const StalenessPolicy& staleness;
};

/// An order to send copy `copy` of the values of bundle `bundle` to `worker`.
struct Reply {
  int worker = 0;
  int bundle = 0;
  int copy = 0;
  std::uint32_t flags = 0;   ///< As in the header.
  bool last = false;         ///< No push of this bundle follows from that worker.
  int completed_by = 0;      ///< Worker whose push let the read be answered.
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

using trace::DropReason;

/// A push that is no part of any update.
struct Drop {
  int worker = 0;
  int bundle = 0;
  Clock clock = 0;  ///< Of the push.
  std::int64_t staleness = 0;
  std::int64_t age_ns = 0;
  DropReason reason = DropReason::stale;
};

/// Owns optimizer state and clocks of one server's bundles, numbered 0, 1, ... here.
class Server {
 public:
  /// @param ids the plan's number of each bundle. @param memory of each bundle.
  Server(const ServerOptions& options, const Rules& rules, std::span<const BundleId> ids,
         std::vector<BundleMemory> memory);

  /// The present values.
  std::span<const float> values(int bundle) const;

  /// A whole push is where `worker` leaves those of `bundle`. Adds to due().
  void receive(int worker, int bundle, const Header& header, std::int64_t now_ns);
  /// A reply has left its outbox. Adds to due() where an update waited for that.
  void sent(const Reply& reply, std::int64_t now_ns);

  /// Replies to start now; the worker's next push may overwrite its last. Empty it after starting them.
  std::vector<Reply>& due() { return due_; }
  /// Pushes left out since the caller emptied it.
  std::vector<Drop>& drops() { return drops_; }
  /// Every worker has pushed its last of every bundle and has its replies due or sent.
  bool finished() const { return closed_ == readers_; }

  std::uint64_t pushes() const { return pushes_; }
  std::uint64_t applied() const { return applied_; }  ///< Pushes that are part of an update.
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t added() const {
    return added_;
  }  ///< Pushes that are part of an update or of a sum to be one.
  std::uint64_t updates() const { return updates_; }
  int waiting() const { return waiting_; }  ///< Pushes received, not yet applied and not dropped.
  std::int64_t version(int bundle) const { return slots_[static_cast<std::size_t>(bundle)].version; }
  /// Of the push of `worker` that came last: steps it had completed with it.
  Clock pushed(int worker, int bundle) const {
    return slots_[static_cast<std::size_t>(bundle)].readers[static_cast<std::size_t>(worker)].pushed;
  }
  Clock clock(int worker, int bundle) const {
    return slots_[static_cast<std::size_t>(bundle)].readers[static_cast<std::size_t>(worker)].clock;
  }
  /// Greatest spread of versions within one read of all of this server's bundles by `worker`, since the last
  /// call.
  std::int64_t take_skew(int worker);
  std::vector<StalenessCount>& staleness(int worker, int bundle);

 private:
  /// A worker at one bundle.
  struct Reader {
    Clock clock = 0;           ///< Steps pushed and taken.
    Clock pushed = 0;          ///< Step of the push that is here.
    std::int64_t version = 0;  ///< Sent last.
    std::int64_t read_ns = 0;  ///< When.
    bool unanswered = false;
    bool last = false;           ///< The push that is here is the last one.
    bool dropped = false;        ///< So was the push that is to be answered.
    bool again = false;          ///< And the worker is to make it anew.
    AlignedArray<float> values;  ///< Sent last, for a policy that needs them.
    std::vector<StalenessCount> staleness;
  };
  struct Slot {
    BundleId id = 0;
    BundleMemory memory;
    AlignedArray<float> state;
    AlignedArray<float> sum;          ///< Of more pushes than one pass adds; or what a policy makes of one.
    Experience experience;            ///< For a policy that needs it.
    std::vector<Reader> readers;      ///< [workers]
    std::vector<int> arrived;         ///< Workers whose push is neither added nor dropped, as they came.
    std::vector<int> added;           ///< Workers whose push is in the sum.
    std::vector<const float*> parts;  ///< What the next update sums: `sum` if it is used, then pushes.
    std::vector<int> in_flight;       ///< [copies] replies being sent.
    int copy = 0;                     ///< Holds the present values.
    int completed_by = 0;             ///< Worker whose push was taken last.
    std::int64_t version = 0;
  };

  Slot& slot(int bundle) { return slots_[static_cast<std::size_t>(bundle)]; }
  void reserve(Slot& slot, std::size_t elements);
  void check(const Slot& slot, int worker, const Header& header) const;
  void advance(int bundle, std::int64_t now_ns);
  /// Of a training that is over: leaves out what is here and answers everybody.
  void release(int bundle, std::int64_t now_ns);
  /// @return position in slot.arrived of the push to take next, or -1.
  int next_push(const Slot& slot) const;
  /// @return a copy that no reply is being sent from, the present one first, or -1.
  int writable_copy(const Slot& slot) const;
  bool completes_update(const Slot& slot) const;
  /// Takes a push out of those that have arrived, into an update or out of the training.
  void take(int bundle, int worker, int copy, std::int64_t now_ns);
  void take_alone(int bundle, int worker, int copy, std::int64_t now_ns);
  void add_to_sum(Slot& slot, int worker, std::int64_t now_ns);
  void count_staleness(Slot& slot, int worker, std::int64_t now_ns);
  void apply(Slot& slot, int copy, float rate);
  void drop(int bundle, int worker, DropReason reason, std::int64_t now_ns);
  std::int64_t age_ns(const Reader& reader, std::int64_t now_ns) const;
  void answer(int bundle, std::int64_t now_ns);
  void answer_one(int bundle, int worker, std::int64_t now_ns);
  /// Counts what the worker has read of its present step.
  void count_read(int worker);

  ServerOptions options_;
  Rules rules_;
  int pushes_per_update_;
  std::vector<Slot> slots_;
  std::vector<Reply> due_;
  std::vector<Drop> drops_;
  std::vector<std::size_t> reads_;  ///< [workers] bundles read, over all steps.
  std::vector<std::int64_t> skew_;  ///< [workers]
  bool stopping_ = false;
  std::size_t readers_;
  std::size_t closed_ = 0;
  std::uint64_t pushes_ = 0;
  std::uint64_t applied_ = 0;
  std::uint64_t dropped_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t updates_ = 0;
  int waiting_ = 0;
};

}  // namespace steelyard::ps
