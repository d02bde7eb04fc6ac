#include <cuda_runtime_api.h>

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/handles.hpp"
#include "tests/support/fake_gpu/stream.hpp"

namespace steelyard::fake_gpu {
namespace {

/// Never destroyed: threads of streams outlive the end of main.
struct Objects {
  Handles<Stream, cudaStream_t> streams{"stream"};
  Handles<Event, cudaEvent_t> events{"event"};
  std::mutex mutex;
  std::map<int, std::shared_ptr<Stream>> default_streams;  ///< By device.
};

Objects& objects() {
  static auto& all = *new Objects;
  return all;
}

std::shared_ptr<Stream> default_stream(int device) {
  const std::lock_guard lock(objects().mutex);
  auto& stream = objects().default_streams[device];
  if (stream == nullptr) stream = std::make_shared<Stream>(device);
  return stream;
}

}  // namespace

std::shared_ptr<Stream> stream_of(const char* call, cudaStream_t handle) {
  if (handle == cudaStreamPerThread)
    refuse(std::string(call) + " on cudaStreamPerThread, which this library does not stand in for");
  if (handle == nullptr || handle == cudaStreamLegacy) return default_stream(current_device());
  return objects().streams.get(call, handle);
}

void finish_device(int device) {
  default_stream(device)->queue().finish();
  for (const auto& stream : objects().streams.all())
    if (stream->device() == device) stream->queue().finish();
}

}  // namespace steelyard::fake_gpu

namespace fake = steelyard::fake_gpu;

FAKE_GPU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int) {
  if (flags != cudaStreamNonBlocking)
    fake::refuse(
        "a stream without cudaStreamNonBlocking waits for the default stream, which this library "
        "does not stand in for");
  if (const cudaError_t code = fake::health(); code != cudaSuccess) return code;
  *handle = fake::objects().streams.add(std::make_shared<fake::Stream>(fake::current_device()));
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags) {
  return cudaStreamCreateWithPriority(handle, flags, 0);
}

FAKE_GPU_API cudaError_t cudaStreamCreate(cudaStream_t* handle) {
  return cudaStreamCreateWithPriority(handle, cudaStreamDefault, 0);
}

/// What is queued is still done, as with CUDA.
FAKE_GPU_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  fake::objects().streams.take("cudaStreamDestroy", handle);
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const bool idle = fake::stream_of("cudaStreamQuery", handle)->queue().idle();
  if (const cudaError_t code = fake::health(); code != cudaSuccess) return code;
  return idle ? cudaSuccess : cudaErrorNotReady;
}

FAKE_GPU_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  fake::stream_of("cudaStreamSynchronize", handle)->queue().finish();
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const auto mark = fake::objects().events.get("cudaStreamWaitEvent", event)->last();
  if (mark != nullptr) fake::stream_of("cudaStreamWaitEvent", stream)->queue().push([mark] { mark->wait(); });
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  fake::stream_of("cudaLaunchHostFunc", stream)->queue().push([=] { function(data); });
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags) {
  if (const cudaError_t code = fake::health(); code != cudaSuccess) return code;
  *handle = fake::objects().events.add(std::make_shared<fake::Event>((flags & cudaEventDisableTiming) == 0));
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  return cudaEventCreateWithFlags(handle, cudaEventDefault);
}

FAKE_GPU_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  fake::objects().events.take("cudaEventDestroy", handle);
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const auto mark = fake::objects().events.get("cudaEventRecord", event)->renew();
  fake::stream_of("cudaEventRecord", stream)->queue().push([mark] { mark->reach(); });
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto mark = fake::objects().events.get("cudaEventQuery", event)->last();
  if (const cudaError_t code = fake::health(); code != cudaSuccess) return code;
  return mark == nullptr || mark->reached() ? cudaSuccess : cudaErrorNotReady;
}

FAKE_GPU_API cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const auto mark = fake::objects().events.get("cudaEventSynchronize", event)->last()) mark->wait();
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  const auto first = fake::objects().events.get("cudaEventElapsedTime", start);
  const auto second = fake::objects().events.get("cudaEventElapsedTime", end);
  if (!first->timed() || !second->timed() || first->last() == nullptr || second->last() == nullptr)
    return fake::fail(cudaErrorInvalidResourceHandle);
  if (!first->last()->reached() || !second->last()->reached()) return cudaErrorNotReady;
  *ms = std::chrono::duration<float, std::milli>(second->last()->wait() - first->last()->wait()).count();
  return fake::health();
}
