#include <nccl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>

#include "tests/support/fake_gpu/communicator.hpp"
#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/faults.hpp"
#include "tests/support/fake_gpu/group.hpp"
#include "tests/support/fake_gpu/handles.hpp"
#include "tests/support/fake_gpu/memory.hpp"
#include "tests/support/fake_gpu/operation.hpp"

namespace steelyard::fake_gpu {
namespace {

using Communicators = Handles<Communicator, ncclComm_t>;

/// Never destroyed: threads of streams outlive the end of main.
Communicators& communicators() {
  static auto& all = *new Communicators("communicator");
  return all;
}

/// The library's own words.
constexpr std::array<const char*, ncclNumResults> kWords = {
    "no error",
    "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
    "unhandled system error (run with NCCL_DEBUG=INFO for details)",
    "internal error - please report this issue to the NCCL developers",
    "invalid argument (run with NCCL_DEBUG=WARN for details)",
    "invalid usage (run with NCCL_DEBUG=WARN for details)",
    "remote process exited or there was a network error",
    "NCCL operation in progress"};

ncclResult_t initialise(ncclComm_t* handle, int ranks, const ncclUniqueId& id, int rank, bool blocking) {
  *handle = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  if (ranks > SharedState::kMostRanks)
    refuse("a communicator of " + std::to_string(ranks) + " ranks; this library stands in for at most " +
           std::to_string(SharedState::kMostRanks));
  if (health() != cudaSuccess || devices() == 0) return ncclUnhandledCudaError;
  const auto made = std::make_shared<Communicator>(id.internal, rank, ranks, blocking);
  const ncclResult_t result = made->join();
  if (result == ncclSuccess || result == ncclInProgress) *handle = communicators().add(made);
  return result;
}

ncclResult_t submit_sum(const char* call, ncclRedOp_t op, ncclComm_t handle, const Operation& operation,
                        cudaStream_t stream) {
  if (op != ncclSum)
    refuse(std::string(call) + " with operation " + std::to_string(op) +
           "; this library stands in for ncclSum");
  return submit(communicators().get(call, handle), operation, stream);
}

const std::byte* bytes(const void* memory) { return static_cast<const std::byte*>(memory); }
std::byte* bytes(void* memory) { return static_cast<std::byte*>(memory); }

}  // namespace
}  // namespace steelyard::fake_gpu

namespace fake = steelyard::fake_gpu;
using fake::Call;

FAKE_GPU_API ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

FAKE_GPU_API const char* ncclGetErrorString(ncclResult_t result) {
  return result >= 0 && result < ncclNumResults ? fake::kWords[result] : "unknown result code";
}

FAKE_GPU_API const char* ncclGetLastError(ncclComm_t handle) {
  if (handle == nullptr) return "";
  return fake::kWords[fake::communicators().get("ncclGetLastError", handle)->state()];
}

FAKE_GPU_API ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> count = 0;
  *id = {};
  const std::string name = "/steelyard_fake_gpu." + std::to_string(getpid()) + "." + std::to_string(++count) +
                           "." + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  std::memcpy(id->internal, name.c_str(), name.size());
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclCommInitRankConfig(ncclComm_t* handle, int ranks, ncclUniqueId id, int rank,
                                                 ncclConfig_t* config) {
  constexpr ncclConfig_t kInitial = NCCL_CONFIG_INITIALIZER;
  if (config != nullptr && config->magic != kInitial.magic) return ncclInvalidArgument;
  return fake::initialise(handle, ranks, id, rank, config == nullptr || config->blocking != 0);
}

FAKE_GPU_API ncclResult_t ncclCommInitRank(ncclComm_t* handle, int ranks, ncclUniqueId id, int rank) {
  return fake::initialise(handle, ranks, id, rank, true);
}

FAKE_GPU_API ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* state) {
  *state = fake::communicators().get("ncclCommGetAsyncError", handle)->state();
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclCommCount(ncclComm_t handle, int* count) {
  *count = fake::communicators().get("ncclCommCount", handle)->ranks();
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclCommUserRank(ncclComm_t handle, int* rank) {
  *rank = fake::communicators().get("ncclCommUserRank", handle)->rank();
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclCommCuDevice(ncclComm_t handle, int* device) {
  *device = fake::communicators().get("ncclCommCuDevice", handle)->device();
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  const auto communicator = fake::communicators().get("ncclCommFinalize", handle);
  if (const ncclResult_t ready = communicator->ready(); ready != ncclSuccess) return ready;
  return communicator->finalize();
}

/// Blocks while operations are not done.
FAKE_GPU_API ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  fake::communicators().take("ncclCommDestroy", handle)->drain();
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclCommAbort(ncclComm_t handle) {
  fake::communicators().take("ncclCommAbort", handle)->abort();
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclMemAlloc(void** memory, std::size_t size) {
  const cudaError_t code = cudaMalloc(memory, size);
  return code == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

FAKE_GPU_API ncclResult_t ncclMemFree(void* memory) {
  return cudaFree(memory) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

FAKE_GPU_API ncclResult_t ncclCommRegister(ncclComm_t handle, void* buffer, std::size_t size,
                                           void** registration) {
  const auto communicator = fake::communicators().get("ncclCommRegister", handle);
  if (const ncclResult_t ready = communicator->ready(); ready != ncclSuccess) return ready;
  fake::require_device("ncclCommRegister", buffer, size, communicator->device());
  communicator->add_registration(buffer);
  *registration = buffer;
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclCommDeregister(ncclComm_t handle, void* registration) {
  const auto communicator = fake::communicators().get("ncclCommDeregister", handle);
  return communicator->drop_registration(registration) ? ncclSuccess : ncclInvalidArgument;
}

FAKE_GPU_API ncclResult_t ncclGroupStart() {
  fake::begin_group();
  return ncclSuccess;
}

FAKE_GPU_API ncclResult_t ncclGroupEnd() { return fake::end_group(); }

FAKE_GPU_API ncclResult_t ncclAllReduce(const void* in, void* out, std::size_t count, ncclDataType_t type,
                                        ncclRedOp_t op, ncclComm_t handle, cudaStream_t stream) {
  return fake::submit_sum("ncclAllReduce", op, handle,
                          {Call::all_reduce, type, count, 0, fake::bytes(in), fake::bytes(out)}, stream);
}

FAKE_GPU_API ncclResult_t ncclReduceScatter(const void* in, void* out, std::size_t count, ncclDataType_t type,
                                            ncclRedOp_t op, ncclComm_t handle, cudaStream_t stream) {
  return fake::submit_sum("ncclReduceScatter", op, handle,
                          {Call::reduce_scatter, type, count, 0, fake::bytes(in), fake::bytes(out)}, stream);
}

FAKE_GPU_API ncclResult_t ncclAllGather(const void* in, void* out, std::size_t count, ncclDataType_t type,
                                        ncclComm_t handle, cudaStream_t stream) {
  return fake::submit(fake::communicators().get("ncclAllGather", handle),
                      {Call::all_gather, type, count, 0, fake::bytes(in), fake::bytes(out)}, stream);
}

FAKE_GPU_API ncclResult_t ncclBroadcast(const void* in, void* out, std::size_t count, ncclDataType_t type,
                                        int root, ncclComm_t handle, cudaStream_t stream) {
  return fake::submit(fake::communicators().get("ncclBroadcast", handle),
                      {Call::broadcast, type, count, root, fake::bytes(in), fake::bytes(out)}, stream);
}

FAKE_GPU_API ncclResult_t ncclSend(const void* in, std::size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t handle, cudaStream_t stream) {
  return fake::submit(fake::communicators().get("ncclSend", handle),
                      {Call::send, type, count, peer, fake::bytes(in), nullptr}, stream);
}

FAKE_GPU_API ncclResult_t ncclRecv(void* out, std::size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t handle, cudaStream_t stream) {
  return fake::submit(fake::communicators().get("ncclRecv", handle),
                      {Call::receive, type, count, peer, nullptr, fake::bytes(out)}, stream);
}
