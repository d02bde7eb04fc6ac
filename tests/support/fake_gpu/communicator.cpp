#include "tests/support/fake_gpu/communicator.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/faults.hpp"
#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

/// Yields first; ranks may be more than cores.
class Patience {
 public:
  void wait() {
    if (++turns_ < kYields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  void reset() { turns_ = 0; }

 private:
  static constexpr int kYields = 200;
  int turns_ = 0;
};

/// Moves what the pipe can take or has of data[0..bytes). @return how many bytes.
std::size_t send_some(Pipe& pipe, const std::byte* data, std::size_t bytes) {
  const std::uint64_t written = pipe.written.load(std::memory_order_relaxed);
  const std::uint64_t room = Pipe::kBytes - (written - pipe.read.load(std::memory_order_acquire));
  const std::size_t place = written % Pipe::kBytes;
  const std::size_t some = std::min({bytes, static_cast<std::size_t>(room), Pipe::kBytes - place});
  std::memcpy(pipe.bytes.data() + place, data, some);
  pipe.written.store(written + some, std::memory_order_release);
  return some;
}

std::size_t receive_some(Pipe& pipe, std::byte* data, std::size_t bytes) {
  const std::uint64_t read = pipe.read.load(std::memory_order_relaxed);
  const std::uint64_t there = pipe.written.load(std::memory_order_acquire) - read;
  const std::size_t place = read % Pipe::kBytes;
  const std::size_t some = std::min({bytes, static_cast<std::size_t>(there), Pipe::kBytes - place});
  std::memcpy(data, pipe.bytes.data() + place, some);
  pipe.read.store(read + some, std::memory_order_release);
  return some;
}

/// A message travels as its signature, then its data.
bool is_through(const Message& message) { return message.done == sizeof(Signature) + message.bytes; }

/// @param expected by a receiver. @return whether anything moved.
bool advance(Message& message, const Signature& expected) {
  constexpr std::size_t kHead = sizeof(Signature);
  const std::size_t before = message.done;
  auto* head = reinterpret_cast<std::byte*>(&message.signature);
  const auto move = [&](std::byte* data, std::size_t bytes) {
    message.done +=
        message.sends ? send_some(*message.pipe, data, bytes) : receive_some(*message.pipe, data, bytes);
  };
  if (message.done < kHead) move(head + message.done, kHead - message.done);
  if (message.done < kHead || !(message.signature == expected)) return message.done > before;
  const std::size_t moved = message.done - kHead;
  if (moved < message.bytes) move(message.data + moved, message.bytes - moved);
  return message.done > before;
}

}  // namespace

Communicator::Communicator(const std::string& name, int rank, int ranks, bool blocking)
    : name_(name),
      rank_(rank),
      ranks_(ranks),
      blocking_(blocking),
      device_(current_device()),
      segment_(name, ranks) {}

ncclResult_t Communicator::join() {
  if (strikes(Fault::death_at_init)) raise(SIGKILL);
  if (blocking_) return state_ = joined();
  launcher_.push([self = shared_from_this()] { self->state_ = self->joined(); });
  return ncclInProgress;
}

ncclResult_t Communicator::joined() {
  SharedState& shared = segment_.state();
  shared.devices[static_cast<std::size_t>(rank_)] = 1 + device_;
  if (++shared.joined == ranks_) segment_.unlink();
  for (Patience patience; shared.joined < ranks_; patience.wait())
    if (aborted_) return ncclInternalError;
  const std::span all(shared.devices.data(), static_cast<std::size_t>(ranks_));
  const auto same = [&](const std::atomic<int>& device) { return device == 1 + device_; };
  return std::ranges::count_if(all, same) == 1 ? ncclSuccess : ncclInvalidUsage;
}

ncclResult_t Communicator::state() const {
  const int failed = segment_.state().failed;
  if (failed != 0) return failed == 1 + rank_ ? ncclSystemError : ncclRemoteError;
  const ncclResult_t state = state_;
  return state == ncclSuccess && finalizing_ && unfinished_ > 0 ? ncclInProgress : state;
}

ncclResult_t Communicator::ready() const {
  const ncclResult_t now = state();
  return now == ncclInProgress ? ncclInvalidArgument : now;
}

ncclResult_t Communicator::queue(const std::shared_ptr<Stream>& stream,
                                 std::function<void(Communicator&)> work) {
  ++unfinished_;
  auto task = [self = shared_from_this(), work = std::move(work)] {
    if (!self->aborted_) work(*self);
    --self->unfinished_;
  };
  if (blocking_) {
    stream->push(std::move(task));
    return ncclSuccess;
  }
  state_ = ncclInProgress;
  launcher_.push([self = shared_from_this(), stream, task = std::move(task)] {
    stream->push(task);
    self->state_ = ncclSuccess;
  });
  return ncclInProgress;
}

ncclResult_t Communicator::finalize() {
  finalizing_ = true;
  if (blocking_) drain();
  return state();
}

void Communicator::drain() const {
  for (Patience patience; unfinished_ > 0 && !aborted_;) patience.wait();
}

void Communicator::abort() {
  aborted_ = true;
  if (segment_.state().joined < ranks_) segment_.unlink();
}

void Communicator::break_down() { segment_.state().failed = 1 + rank_; }

void Communicator::wait_for_abort() const {
  for (Patience patience; !aborted_;) patience.wait();
}

Message Communicator::sending(int to, const std::byte* data, std::size_t bytes,
                              const Signature& signature) const {
  return {&segment_.pipe(rank_, to), true, const_cast<std::byte*>(data), bytes, signature, 0};
}

Message Communicator::receiving(int from, std::byte* data, std::size_t bytes,
                                const Signature& signature) const {
  return {&segment_.pipe(from, rank_), false, data, bytes, signature, 0};
}

bool Communicator::complete(std::span<Message> messages) const {
  std::vector<Signature> expected;
  for (const Message& message : messages) expected.push_back(message.signature);
  Patience patience;
  while (!std::ranges::all_of(messages, is_through)) {
    if (aborted_) return false;
    std::set<std::pair<const Pipe*, bool>> busy;  // A rank may send to itself.
    bool moved = false;
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (!is_through(messages[i]) && busy.emplace(messages[i].pipe, messages[i].sends).second)
        moved = advance(messages[i], expected[i]) || moved;
    if (moved) patience.reset();
    if (!moved) patience.wait();
  }
  return true;
}

void Communicator::add_registration(void* handle) {
  const std::lock_guard lock(mutex_);
  registrations_.insert(handle);
}

bool Communicator::drop_registration(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = registrations_.find(handle);
  if (found == registrations_.end()) return false;
  registrations_.erase(found);
  return true;
}

}  // namespace steelyard::fake_gpu
