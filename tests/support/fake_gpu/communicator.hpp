#pragma once

/// @file
/// A communicator of NCCL among processes of one node, and the messages that its operations send.

#include <nccl.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "tests/support/fake_gpu/segment.hpp"
#include "tests/support/fake_gpu/stream.hpp"

namespace steelyard::fake_gpu {

/// What sender and receiver of a message have to agree on.
struct Signature {
  int call = 0;  ///< Which operation of NCCL; an enumerator of Call.
  ncclDataType_t type = ncclInt8;
  std::size_t count = 0;
  int root = 0;
  bool operator==(const Signature&) const = default;
};

/// One message, sent or received. A receiver that is sent another operation's message never gets it.
struct Message {
  Pipe* pipe = nullptr;
  bool sends = false;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Signature signature;  ///< As the message says; of a receiver in the end what it was sent.
  std::size_t done = 0;
};

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  /// @param blocking whether calls return when they are done, or say ncclInProgress until they are.
  Communicator(const std::string& name, int rank, int ranks, bool blocking);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int device() const { return device_; }
  /// The rank `distance` behind this one in the ring, or before it.
  int neighbour(int distance) const { return ((rank_ + distance) % ranks_ + ranks_) % ranks_; }

  /// Waits for all ranks: in this thread if it is blocking, else in another. @return what the call returns.
  ncclResult_t join();
  /// What ncclCommGetAsyncError says.
  ncclResult_t state() const;
  /// @return what a call may return: an error, where the one before it is still in progress.
  ncclResult_t ready() const;
  /// Queues work on a stream: at once if it is blocking, else soon. @return what the call returns.
  ncclResult_t queue(const std::shared_ptr<Stream>& stream, std::function<void(Communicator&)> work);
  /// ncclInProgress until what is queued is done.
  ncclResult_t finalize();
  /// Blocks until nothing is queued, or it was aborted.
  void drain() const;
  /// Whatever its operations wait for, they wait no longer.
  void abort();
  /// This rank says ncclSystemError from now on, the others ncclRemoteError.
  void break_down();
  void wait_for_abort() const;

  Message sending(int to, const std::byte* data, std::size_t bytes, const Signature& signature) const;
  Message receiving(int from, std::byte* data, std::size_t bytes, const Signature& signature) const;
  /// Blocks until all are through; those of one pipe in their order. @return false if it was aborted.
  bool complete(std::span<Message> messages) const;

  void add_registration(void* handle);
  bool drop_registration(void* handle);

 private:
  ncclResult_t joined();

  std::string name_;
  int rank_;
  int ranks_;
  bool blocking_;
  int device_;
  Segment segment_;
  std::atomic<ncclResult_t> state_ = ncclInProgress;
  std::atomic<bool> aborted_ = false;
  std::atomic<bool> finalizing_ = false;
  std::atomic<int> unfinished_ = 0;
  WorkQueue launcher_;
  std::mutex mutex_;
  std::multiset<void*> registrations_;
};

}  // namespace steelyard::fake_gpu
