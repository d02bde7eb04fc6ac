#include "src/cuda/stream.hpp"

#include "src/cuda/check.cuh"

namespace steelyard::cuda {
namespace {

Waiter* g_waiter = nullptr;

}  // namespace

void set_waiter(Waiter* waiter) { g_waiter = waiter; }

Event::Event(Timed timed) {
  cudaEvent_t event = nullptr;
  const unsigned flags = timed == Timed::yes ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
  event_.reset(event);
}

bool Event::reached() const {
  const cudaError_t code = cudaEventQuery(event_.get());
  if (code != cudaErrorNotReady) check(code, "cudaEventQuery");
  return code == cudaSuccess;
}

void Event::wait() const {
  if (g_waiter != nullptr)
    g_waiter->await(*this);
  else
    check(cudaEventSynchronize(event_.get()), "cudaEventSynchronize");
}

double Event::ms_since(const Event& earlier) const {
  float ms = 0.0F;
  check(cudaEventElapsedTime(&ms, earlier.event_.get(), event_.get()), "cudaEventElapsedTime");
  return static_cast<double>(ms);
}

void Event::Destroy::operator()(CUevent_st* event) const {
  check(cudaEventDestroy(event), "cudaEventDestroy");
}

Stream::Stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  stream_.reset(stream);
}

void Stream::record(const Event& event) const {
  check(cudaEventRecord(event.handle(), stream_.get()), "cudaEventRecord");
}

void Stream::wait(const Event& event) const {
  check(cudaStreamWaitEvent(stream_.get(), event.handle(), 0), "cudaStreamWaitEvent");
}

void Stream::finish() const {
  const Event end;
  record(end);
  end.wait();
}

kernels::Queue Stream::queue() const {
  return {stream_.get(), [](const char* kernel, const char* reason) {
            die("CUDA: " + std::string(reason) + " (launch of kernel " + kernel + ")");
          }};
}

void Stream::Destroy::operator()(CUstream_st* stream) const {
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

}  // namespace steelyard::cuda
