#pragma once

/// @file
/// What a server measures of itself: its load per window of steps, per shard, and the staleness it applied.

#include <vector>

#include "modes/ps/server_memory.hpp"
#include "src/trace/recorder.hpp"

namespace steelyard::ps {

/// Steps per window of /load.
inline constexpr Step kWindowSteps = 50;

class Meter {
 public:
  Meter(trace::Recorder& recorder, const ServerSide& side, Server& server);

  /// Between these two a request is handled.
  void begin_work();
  /// @param summed whether a gradient became part of a sum or an update.
  void end_work(int bundle, bool summed);
  /// Between them: the server was made to take so much longer.
  void add_delay(std::int64_t delay_ns) { work_cpu_ns_ -= delay_ns; }
  /// Wall time since begin_wait was idle.
  void begin_wait() { waiting_since_ns_ = recorder_.now_ns(); }
  void end_wait() { row_.idle_ns += recorder_.now_ns() - waiting_since_ns_; }

  void count_push(int bundle, const Moved& moved);
  void count_reply(const Moved& moved);
  /// Takes the pushes that the server has dropped.
  void count_drops();
  /// Closes the window when its steps are over.
  void close_if_due();
  /// Closes the last window, unless nothing has been pushed in it.
  void finish();

 private:
  void close();
  struct BundleLoad {
    std::int64_t busy_ns = 0;
    std::uint64_t pushes = 0;
    std::uint64_t bytes = 0;  ///< Of these pushes.
  };

  Step steps_pushed() const;
  void write_shard_loads();
  void write_staleness();

  trace::Recorder& recorder_;
  const ServerSide& side_;
  Server& server_;
  trace::LoadRow row_{};
  trace::CpuUse at_begin_;
  std::vector<BundleLoad> loads_;
  std::int64_t work_cpu_ns_ = 0;
  std::int64_t work_ns_ = 0;
  std::int64_t waiting_since_ns_ = 0;
  std::uint64_t applied_before_ = 0;
};

}  // namespace steelyard::ps
