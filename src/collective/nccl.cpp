#include "src/collective/nccl.hpp"

#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "src/mpi/wait.hpp"

namespace steelyard {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;
constexpr std::int64_t kPatienceNs = 2 * kNsPerS;  // For the others' answers.
constexpr unsigned kAbortS = 10;                   // An abort that takes longer ends this process.

void copy_text(std::span<char> to, std::string_view text) {
  const std::size_t length = std::min(text.size(), to.size() - 1);
  std::memcpy(to.data(), text.data(), length);
  to[length] = '\0';
}

}  // namespace

std::string nccl_text() {
  int version = 0;
  const ncclResult_t result = ncclGetVersion(&version);
  require(result == ncclSuccess, std::string("ncclGetVersion: ") + ncclGetErrorString(result));
  // As NCCL_VERSION of its header packs it since 2.9.
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

NcclGroup::NcclGroup(const mpi::Communicator& ranks, const NcclOptions& options)
    : alarm_(ranks), options_(options) {
  // NCCL reads it when a process makes its first communicator.
  if (!options.algorithm.empty()) require(setenv("NCCL_ALGO", options.algorithm.c_str(), 1) == 0, "setenv");
  connect(ranks);
  cuda::set_waiter(this);
}

void NcclGroup::connect(const mpi::Communicator& ranks) {
  ncclUniqueId id{};
  if (ranks.rank() == 0) {
    const ncclResult_t code = ncclGetUniqueId(&id);
    require(code == ncclSuccess, std::string("ncclGetUniqueId: ") + ncclGetErrorString(code));
  }
  mpi::broadcast(ranks, std::as_writable_bytes(std::span(&id, 1)), 0);
  // A rank may leave a broadcast before another has got it, and then waits outside of MPI.
  mpi::barrier(ranks, mpi::Wait::yield);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t made = nullptr;
  begin("ncclCommInitRankConfig", 0);
  const ncclResult_t code = ncclCommInitRankConfig(&made, ranks.size(), id, ranks.rank(), &config);
  group_.reset(made);
  settle(code);
}

NcclGroup::~NcclGroup() {
  cuda::set_waiter(nullptr);
  for (void* handle : enlisted_) ncclCommDeregister(group_.get(), handle);
}

void NcclGroup::Destroy::operator()(ncclComm* group) const {
  // Finalizing takes all ranks and may be under way for some time; a trial ends behind a barrier of MPI.
  ncclResult_t state = ncclCommFinalize(group);
  mpi::wait_until(mpi::Wait::yield, [&] {
    return state != ncclInProgress || ncclCommGetAsyncError(group, &state) != ncclSuccess ||
           state != ncclInProgress;
  });
  ncclCommDestroy(group);
}

void NcclGroup::enlist(std::span<float> slab) {
  begin("ncclCommRegister", slab.size());
  void* handle = nullptr;
  settle(ncclCommRegister(group_.get(), slab.data(), slab.size_bytes(), &handle));
  enlisted_.push_back(handle);
}

void NcclGroup::allreduce(std::span<float> data, const cuda::Stream& stream) {
  begin("allreduce", data.size());
  settle(ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat32, ncclSum, group_.get(),
                       stream.handle()));
  queued(stream);
}

void NcclGroup::begin(const char* name, std::size_t elements) {
  ++standing_.call;
  standing_.elements = elements;
  copy_text(standing_.name, name);
}

void NcclGroup::queued(const cuda::Stream& stream) {
  Call& call = calls_[static_cast<std::size_t>(standing_.call) % kCalls];
  call.standing = standing_;
  stream.record(call.end);
}

mpi::Standing NcclGroup::unfinished() const {
  mpi::Standing oldest = standing_;
  for (const Call& call : calls_)
    if (call.standing.call > 0 && call.standing.call < oldest.call && !call.end.reached())
      oldest = call.standing;
  return oldest;
}

template <typename Done>
void NcclGroup::until(Done&& done) {
  const std::int64_t end_ns = clock_ns(CLOCK_MONOTONIC) +
                              static_cast<std::int64_t>(options_.timeout_s * static_cast<double>(kNsPerS));
  mpi::wait_until(mpi::Wait::yield, [&] {
    if (done()) return true;
    look();
    if (clock_ns(CLOCK_MONOTONIC) >= end_ns) fail("");
    return false;
  });
}

void NcclGroup::settle(int code) {
  auto state = static_cast<ncclResult_t>(code);
  until([&] {
    if (state == ncclInProgress)
      if (const ncclResult_t asked = ncclCommGetAsyncError(group_.get(), &state); asked != ncclSuccess)
        state = asked;
    if (state != ncclSuccess && state != ncclInProgress)
      fail(ncclGetErrorString(state), state == ncclRemoteError);
    return state == ncclSuccess;
  });
}

void NcclGroup::await(const cuda::Event& event) {
  until([&] { return event.reached(); });
}

void NcclGroup::look() {
  ncclResult_t state = ncclSuccess;
  if (const ncclResult_t asked = ncclCommGetAsyncError(group_.get(), &state); asked != ncclSuccess)
    state = asked;
  if (state != ncclSuccess && state != ncclInProgress)
    fail(ncclGetErrorString(state), state == ncclRemoteError);
  if (alarm_.raised()) fail("");
}

void NcclGroup::fail(const std::string& reason, bool is_echo) {
  std::string text = reason;
  if (!text.empty())
    if (const char* more = ncclGetLastError(group_.get()); more != nullptr && *more != '\0' && text != more)
      text += " (" + std::string(more) + ")";
  mpi::Standing mine = unfinished();
  copy_text(mine.reason, text);
  mine.is_echo = is_echo;
  const auto standings = alarm_.exchange(mine, kPatienceNs);
  alarm(kAbortS);
  if (group_ != nullptr) ncclCommAbort(group_.release());
  const auto speaker = std::ranges::find_if(standings, [](const auto& one) { return one.has_value(); });
  // The others are ended with the job, by signals at first; should the speaker be gone, they end it.
  if (speaker != standings.begin() + alarm_.rank())
    for (unsigned left = kAbortS / 2; left > 0;) left = sleep(left);
  die("NCCL: " + mpi::explain(standings, options_.timeout_s));
}

}  // namespace steelyard
