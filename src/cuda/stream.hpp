#pragma once

/// @file
/// Streams of the device and events in them. Only what is done at set-up blocks the host.

#include <memory>

#include "kernels/cuda/queue.hpp"

struct CUevent_st;

namespace steelyard::cuda {

class Event;

/// Waits in the place of Event::wait and Stream::finish where the device depends on other ranks, so that what
/// is the matter with them ends the wait. At most one at a time; null: none.
class Waiter {
 public:
  virtual ~Waiter() = default;
  virtual void await(const Event& event) = 0;
};
void set_waiter(Waiter* waiter);

/// A point in a stream: reached when all that was queued before it is done.
class Event {
 public:
  enum class Timed : bool { no, yes };
  explicit Event(Timed timed = Timed::no);

  /// Whether the device has reached it; true if it was never recorded. Does not block.
  bool reached() const;
  /// Blocks the host until it is reached.
  void wait() const;
  /// Time of the device between two events, both timed and reached.
  double ms_since(const Event& earlier) const;
  CUevent_st* handle() const { return event_.get(); }

 private:
  struct Destroy {
    void operator()(CUevent_st* event) const;
  };
  std::unique_ptr<CUevent_st, Destroy> event_;
};

/// A stream that waits for no other: order between streams is made by events alone.
class Stream {
 public:
  Stream();

  /// `event` is reached when all that is queued so far is done.
  void record(const Event& event) const;
  /// What is queued from now on waits until `event`, as recorded last, is reached; the host does not.
  void wait(const Event& event) const;
  /// Blocks the host until all that is queued is done. For set-up and the end of a trial.
  void finish() const;
  kernels::Queue queue() const;
  CUstream_st* handle() const { return stream_.get(); }

 private:
  struct Destroy {
    void operator()(CUstream_st* stream) const;
  };
  std::unique_ptr<CUstream_st, Destroy> stream_;
};

}  // namespace steelyard::cuda
