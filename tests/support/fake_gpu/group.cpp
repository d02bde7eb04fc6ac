#include "tests/support/fake_gpu/group.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/faults.hpp"
#include "tests/support/fake_gpu/memory.hpp"
#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

enum class Fate { carried_out, silent, broken };

struct Submitted {
  std::shared_ptr<Communicator> communicator;
  std::shared_ptr<Stream> stream;
  Operation operation;
  Fate fate = Fate::carried_out;
};

thread_local int depth = 0;
thread_local std::vector<Submitted> submitted;

/// What one group has for one communicator: its collectives in their order, its sends and receives together.
struct Batch {
  bool silent = false;
  bool broken = false;
  std::vector<Operation> collectives;
  std::vector<Operation> between_two;

  void run(Communicator& communicator) const {
    if (broken) communicator.break_down();
    if (broken || silent) return communicator.wait_for_abort();
    for (const Operation& one : collectives) carry_out(communicator, one);
    carry_out(communicator, between_two);
  }
};

/// Takes what has the communicator of the first out of `all`.
ncclResult_t queue_first(std::vector<Submitted>& all) {
  const auto communicator = all.front().communicator;
  const auto stream = all.front().stream;
  Batch batch;
  std::erase_if(all, [&](const Submitted& one) {
    if (one.communicator != communicator) return false;
    if (one.stream != stream)
      refuse("a group with two streams for one communicator, which this library does not stand in for");
    batch.silent = batch.silent || one.fate == Fate::silent;
    batch.broken = batch.broken || one.fate == Fate::broken;
    (is_between_two(one.operation.call) ? batch.between_two : batch.collectives).push_back(one.operation);
    return true;
  });
  return communicator->queue(stream, [batch](Communicator& its) { batch.run(its); });
}

ncclResult_t queue_all() {
  ncclResult_t result = ncclSuccess;
  for (auto all = std::exchange(submitted, {}); !all.empty();)
    if (const ncclResult_t one = queue_first(all); one != ncclSuccess) result = one;
  return result;
}

}  // namespace

void begin_group() { ++depth; }

ncclResult_t end_group() {
  if (depth == 0) return ncclInvalidUsage;
  return --depth == 0 ? queue_all() : ncclSuccess;
}

ncclResult_t submit(const std::shared_ptr<Communicator>& communicator, Operation operation,
                    cudaStream_t stream_handle) {
  if (const ncclResult_t ready = communicator->ready(); ready != ncclSuccess) return ready;
  if (operation.root < 0 || operation.root >= communicator->ranks()) return ncclInvalidArgument;
  const char* call = name_of(operation.call);
  const std::size_t element = bytes_of(operation.type);
  const auto check = [&](const void* buffer, std::size_t elements) {
    if (elements > 0) require_device(call, buffer, elements * element, communicator->device());
  };
  check(operation.in, elements_in(operation, *communicator));
  check(operation.out, elements_out(operation, *communicator));
  const auto stream = stream_of(call, stream_handle);
  if (stream->device() != communicator->device())
    refuse(std::string(call) + " of a communicator on device " + std::to_string(communicator->device()) +
           " on a stream of device " + std::to_string(stream->device()));
  if (try_device() != cudaSuccess) return ncclUnhandledCudaError;
  if (strikes(Fault::mismatch) && operation.count > 0) --operation.count;
  const bool silent = strikes(Fault::silent);
  const bool broken = strikes(Fault::async_error);
  submitted.push_back({communicator, stream, operation,
                       broken   ? Fate::broken
                       : silent ? Fate::silent
                                : Fate::carried_out});
  return depth == 0 ? queue_all() : ncclSuccess;
}

}  // namespace steelyard::fake_gpu
