#pragma once

/// @file
/// What one rank records while it works. In the measured loop nothing but memory is written; between steps,
/// at most every `flush_seconds`, the rows go to the rank file.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/types.hpp"
#include "src/trace/rank_file.hpp"
#include "src/trace/rows.hpp"
#include "src/trace/tallies.hpp"

namespace steelyard::trace {

/// Thread CPU time and involuntary context switches so far.
struct CpuUse {
  std::int64_t cpu_ns = 0;
  std::uint32_t involuntary_switches = 0;
};
CpuUse cpu_use();
/// Thread CPU time alone; half the cost.
std::int64_t cpu_ns();

class Recorder {
 public:
  /// Its clock starts at 0 now.
  Recorder();

  std::int64_t now_ns() const;
  std::int64_t epoch_unix_ns() const { return epoch_unix_ns_; }

  /// From now on rows also go to `file`, and single events are kept.
  void attach(std::unique_ptr<RankFile> file, double flush_seconds);
  /// Writes what is left and ends the file; does nothing without one.
  void close(const mpi::ClockOffset& at_end);

  /// Forgets the rows of the trial before; reserves room for `steps`, and for what reads and drops say of
  /// each of `workers`.
  void begin_trial(std::uint16_t trial, Step steps, int workers = 1);
  void begin_step(Step step);
  /// Completes the step's row from the phases since begin_step.
  void end_step(std::uint32_t samples, float loss);
  void count_sent(std::uint64_t bytes, std::uint32_t messages);
  void count_received(std::uint64_t bytes, std::uint32_t messages);

  void add(const LoadRow& row) { loads_.push_back(row); }
  void add(const ShardLoadRow& row) { shard_loads_.push_back(row); }
  void add(const StalenessRow& row) { stalenesses_.push_back(row); }
  /// Of these two only sums stay in memory once they are written; without a file, from the start.
  void add(const DropRow& row);
  void add(const ReadRow& row);
  /// A finished event of the current trial.
  void event(Phase phase, Step step, std::int64_t begin_ns, int peer = -1, int shard = -1,
             std::uint64_t bytes = 0) {
    if (file_) record({trial_, step, phase, peer, shard, begin_ns, now_ns(), bytes});
  }
  /// One that has ended earlier, such as on a device.
  void event_between(Phase phase, Step step, std::int64_t begin_ns, std::int64_t end_ns,
                     std::uint64_t bytes) {
    if (file_) record({trial_, step, phase, -1, -1, begin_ns, end_ns, bytes});
  }

  /// Call once per step, inside it, so that the cost shows in its time. Writes when the interval is over or
  /// the memory for events fills.
  void flush_if_due();

  std::uint16_t trial() const { return trial_; }
  Step step() const { return step_; }
  /// Rows of the current trial.
  const std::vector<StepRow>& steps() const { return steps_; }
  const std::vector<LoadRow>& loads() const { return loads_; }
  const std::vector<StalenessRow>& stalenesses() const { return stalenesses_; }
  /// All drops and reads of the current trial, as tallies.hpp sums them.
  const std::vector<DropCount>& drop_counts() const { return drop_counts_; }
  const std::vector<ReadRow>& read_sums() const { return read_sums_; }
  /// Time spent on recording since begin_trial: flushes as measured, rows at the cost of one measured at
  /// start.
  std::int64_t overhead_ns() const;

 private:
  friend class Scope;

  void record(const EventRow& row) {
    ++recorded_;
    events_.push_back(row);
  }
  /// Charges the time since the last switch to the current phase and enters `next`. @return the phase left.
  int switch_to(int next, std::int64_t time_ns);
  bool memory_fills() const;
  void write_rows();
  void measure_cost();

  std::int64_t epoch_ns_ = 0;
  std::int64_t epoch_unix_ns_ = 0;
  std::unique_ptr<RankFile> file_;
  std::int64_t flush_interval_ns_ = 0;
  std::int64_t last_flush_ns_ = 0;
  std::int64_t flushing_ns_ = 0;
  double cost_of_event_ns_ = 0.0;
  std::uint64_t recorded_ = 0;

  std::uint16_t trial_ = 0;
  Step step_ = 0;
  CpuUse cpu_at_begin_;
  int phase_ = -1;
  std::int64_t switched_ns_ = 0;
  std::array<std::int64_t, kPhaseNames.size()> spent_ns_{};
  StepRow row_{};

  std::vector<EventRow> events_;
  std::vector<StepRow> steps_;
  std::vector<LoadRow> loads_;
  std::vector<ShardLoadRow> shard_loads_;
  std::vector<StalenessRow> stalenesses_;
  std::vector<DropRow> drops_;
  std::vector<ReadRow> reads_;
  std::vector<DropCount> drop_counts_;
  std::vector<ReadRow> read_sums_;
  std::size_t steps_written_ = 0;
  std::size_t loads_written_ = 0;
  std::size_t stalenesses_written_ = 0;
};

/// A phase from construction to destruction: exclusive time for the step's row, one event for the timeline.
class [[nodiscard]] Scope {
 public:
  Scope(Recorder& recorder, Phase phase, int peer = -1, int shard = -1, std::uint64_t bytes = 0);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Recorder& recorder_;
  EventRow row_;
  int outer_;
};

}  // namespace steelyard::trace
