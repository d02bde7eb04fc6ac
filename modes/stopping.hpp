#pragma once

/// @file
/// How a trial ends before its last step because somebody, a signal, said so to one rank or to all.

#include <array>
#include <optional>

#include "modes/trial.hpp"
#include "src/mpi/pending_greatest.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard {

/// Whether all workers read the same values in the same step.
bool workers_in_step(const TrialConfig& config);

/// One rank's end of the news that a trial is to end.
///
/// A rank that is told tells the next rank of the world, whatever the two do in the trial, so the news
/// reaches a rank that trains. Each rank sends exactly one message to the next in a trial, that one or, when
/// all have finished, that there was none.
///
/// Workers that are in step agree on the last step: now and then, about every kAgreeEveryNs and at most once
/// a step, they reduce what they know while they train, and look at the result in the step after. So all of
/// them leave after the same whole step. Others leave alone, and servers tell their peers (ps/message.hpp).
class Stopping {
 public:
  static constexpr std::int64_t kAgreeEveryNs = 50'000'000;

  /// Collective over session.world. @param session borrowed.
  explicit Stopping(Session& session);

  /// Whether all workers end after the same step, and nothing of it is dropped; so it is with one alone.
  bool in_step() const { return in_step_; }
  /// Whether this rank has been told, by its own signal or by the rank before it. Passes it on. Costs a look
  /// at a flag and at the clock, and once a millisecond a look for the message.
  bool told();
  /// A worker, between the forward and the backward pass of `step`: whether this is to be its last step. In
  /// step all workers get the same answer. Then the trial counts as stopped.
  bool ends(Step step);
  /// Gives an agreement under way a chance to move.
  void progress();
  /// Collective over session.workers, before something that can be left out: whether it is, because a worker
  /// has been told or the trial is stopped. Then the trial counts as stopped.
  bool leaves_out();
  /// Collective over `ranks`: as mpi::barrier, and passes on what comes meanwhile.
  void barrier(const mpi::Communicator& ranks, mpi::Wait wait);
  /// Collective over session.world, last of all.
  void finish();

 private:
  enum class News : std::uint8_t { none, stop };

  bool agreed(Step step);
  void begin_agreement(Step step);
  void pass_on(News news);
  void look_for_message();

  Session& session_;
  bool in_step_;
  bool told_ = false;
  std::int64_t next_look_ns_ = 0;
  mpi::Communicator ring_;                    ///< A copy of the world.
  std::optional<mpi::Communicator> workers_;  ///< A copy of the workers', on workers in step.
  std::array<std::byte, 1> received_{};
  std::array<std::byte, 1> sent_{};
  mpi::Requests messages_;  ///< Receive from the rank before, send to the next; none where a rank is alone.
  int outstanding_ = 0;     ///< Of these.
  bool passed_on_ = false;
  mpi::PendingGreatest agreement_;
  Step agreement_began_ = 0;       ///< In this step.
  Step next_agreement_ = 0;        ///< Not before this step.
  std::int64_t agreement_ns_ = 0;  ///< When the last one began.
};

}  // namespace steelyard
