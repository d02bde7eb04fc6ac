#pragma once

/// @file
/// NCCL among the ranks of a communicator: sums on GPUs that run beside the host. This header is there in
/// builds without CUDA too; what it declares below nccl_text() is for code in folders named cuda alone.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/cuda/stream.hpp"
#include "src/mpi/alarm.hpp"

struct ncclComm;

namespace steelyard {

/// "NCCL 2.28.9", of the library that is loaded; "" in a build without CUDA.
std::string nccl_text();

struct NcclOptions {
  std::string algorithm = "Ring";  ///< As NCCL_ALGO has it; "" leaves the choice to NCCL.
  double timeout_s = 60.0;         ///< After which a rank that waits in vain ends the job.
};

/// One communicator of NCCL. Calls are queued in a stream and come back at once; they begin in one order,
/// with one count, on every rank. Whatever fails, and whoever waits longer than the timeout, ends the job:
/// the ranks agree over MPI who is the matter, every one aborts its communicator, and the lowest that answers
/// says it with rank, step and call. As long as it lives, whoever waits for the device waits so.
class NcclGroup final : public cuda::Waiter {
 public:
  /// Collective over `ranks`, each of which has taken a device of its own.
  NcclGroup(const mpi::Communicator& ranks, const NcclOptions& options);
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup() override;

  /// Collective. Memory of the device in which all data of later calls lie: registered, so that NCCL need not
  /// copy it to memory of its own where it can do without.
  void enlist(std::span<float> slab);

  void begin_step(Step step) { standing_.step = step; }
  /// Queues that data [count] become their sums over all ranks.
  void allreduce(std::span<float> data, const cuda::Stream& stream);

  /// One look at NCCL's state and at the other ranks, for whoever waits for the device.
  void look();
  /// Until the device has reached `event`, behind calls of this group.
  void await(const cuda::Event& event) override;

 private:
  void connect(const mpi::Communicator& ranks);
  /// Notes that a call begins, for messages.
  void begin(const char* name, std::size_t elements);
  /// Until what a call has begun is under way. @param code that the call returned.
  void settle(int code);
  template <typename Done>
  void until(Done&& done);
  /// Notes that the call that began last is queued.
  void queued(const cuda::Stream& stream);
  /// The oldest call that the device has not completed; else the one that began last.
  mpi::Standing unfinished() const;
  [[noreturn]] void fail(const std::string& reason, bool is_echo = false);

  struct Destroy {
    void operator()(ncclComm* group) const;
  };
  mpi::Alarm alarm_;
  NcclOptions options_;
  mpi::Standing standing_;
  std::unique_ptr<ncclComm, Destroy> group_;
  std::vector<void*> enlisted_;
  struct Call {
    mpi::Standing standing;
    cuda::Event end;
  };
  static constexpr std::size_t kCalls = 64;
  std::array<Call, kCalls> calls_;  ///< The latest, by number; older ones have long been completed.
};

}  // namespace steelyard
