#pragma once

/// @file
/// Streams as threads with a queue, and the events between them.

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace steelyard::fake_gpu {

/// Does what is pushed in its order, in a thread of its own that ends when the owner is gone and all is done.
class WorkQueue {
 public:
  WorkQueue();
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void push(std::function<void()> work);
  bool idle() const;
  /// Blocks until it is idle.
  void finish() const;

 private:
  struct State {
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    std::deque<std::function<void()>> waiting;
    bool busy = false;
    bool closed = false;
  };
  static void run(State& state);

  std::shared_ptr<State> state_;
};

class Stream {
 public:
  explicit Stream(int device) : device_(device) {}

  int device() const { return device_; }
  /// Queues what takes time on a device; it is dropped when the device is lost.
  void push(std::function<void()> work);
  WorkQueue& queue() { return queue_; }

 private:
  int device_;
  WorkQueue queue_;
};

/// One recording of an event.
class Mark {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void reach();
  bool reached() const;
  /// Blocks until it is reached. @return when it was.
  Time wait() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool reached_ = false;
  Time time_;
};

class Event {
 public:
  explicit Event(bool timed) : timed_(timed) {}

  bool timed() const { return timed_; }
  /// Null before the first recording.
  std::shared_ptr<Mark> last() const;
  std::shared_ptr<Mark> renew();

 private:
  bool timed_;
  mutable std::mutex mutex_;
  std::shared_ptr<Mark> last_;
};

/// The stream behind a handle; null and cudaStreamLegacy are the current device's default stream.
std::shared_ptr<Stream> stream_of(const char* call, cudaStream_t handle);

/// Blocks until nothing is queued on the device.
void finish_device(int device);

}  // namespace steelyard::fake_gpu
