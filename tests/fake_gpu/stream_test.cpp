#include <chrono>
#include <thread>

#include "tests/fake_gpu/device.hpp"

namespace steelyard::fake_gpu {
namespace {

constexpr std::size_t kBytes = sizeof(int);

TEST(FakeStream, ACopyHasNotHappenedBeforeWhatIsQueuedBeforeIt) {
  const cudaStream_t stream = new_stream();
  int* source = pinned(1, 7);
  int* target = pinned(1, 1);
  Gate gate(stream);
  EXPECT_CUDA(cudaMemcpyAsync(target, source, kBytes, cudaMemcpyDefault, stream));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  EXPECT_EQ(*target, 1) << "a read without a wait sees what was there before";
  gate.open();
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(*target, 7);
  EXPECT_CUDA(cudaStreamQuery(stream));
}

TEST(FakeStream, AnAsynchronousCopyReadsPinnedMemoryWhenItsTurnComesAndPageableAtOnce) {
  const cudaStream_t stream = new_stream();
  int* source = pinned(1, 7);
  int pageable = 8;
  int* target = pinned(2, 1);
  int* device = on_device<int>(std::vector{0, 0});
  Gate gate(stream);
  EXPECT_CUDA(cudaMemcpyAsync(device, source, kBytes, cudaMemcpyHostToDevice, stream));
  EXPECT_CUDA(cudaMemcpyAsync(device + 1, &pageable, kBytes, cudaMemcpyHostToDevice, stream));
  EXPECT_CUDA(cudaMemcpyAsync(target, device, 2 * kBytes, cudaMemcpyDeviceToHost, stream));
  *source = 9;
  pageable = 10;
  gate.open();
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(target[0], 9) << "changed before its turn came";
  EXPECT_EQ(target[1], 8);
}

TEST(FakeStream, StreamsAreIndependent) {
  const cudaStream_t held = new_stream();
  const cudaStream_t other = new_stream();
  int* source = pinned(1, 7);
  int* target = pinned(1, 1);
  Gate gate(held);
  EXPECT_CUDA(cudaMemcpyAsync(target, source, kBytes, cudaMemcpyDefault, other));
  EXPECT_CUDA(cudaStreamSynchronize(other));
  EXPECT_EQ(*target, 7);
  EXPECT_EQ(cudaStreamQuery(held), cudaErrorNotReady);
  gate.open();
}

TEST(FakeStream, AnEventOrdersTwoStreamsAndItsAbsenceDoesNot) {
  for (const bool waits : {false, true}) {
    const cudaStream_t writer = new_stream();
    const cudaStream_t reader = new_stream();
    const cudaEvent_t written = new_event();
    int* source = pinned(1, 7);
    int* read = pinned(1, 1);
    int* device = on_device<int>(std::vector{2});
    Gate gate(writer);
    EXPECT_CUDA(cudaMemcpyAsync(device, source, kBytes, cudaMemcpyHostToDevice, writer));
    EXPECT_CUDA(cudaEventRecord(written, writer));
    if (waits) {
      EXPECT_CUDA(cudaStreamWaitEvent(reader, written, 0));
    }
    EXPECT_CUDA(cudaMemcpyAsync(read, device, kBytes, cudaMemcpyDeviceToHost, reader));
    if (waits) {
      EXPECT_EQ(cudaStreamQuery(reader), cudaErrorNotReady);
      gate.open();
    }
    EXPECT_CUDA(cudaStreamSynchronize(reader));
    if (!waits) gate.open();
    EXPECT_EQ(*read, waits ? 7 : 2);
  }
}

TEST(FakeEvent, IsReachedWhenItsLastRecordingIs) {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t event = new_event();
  EXPECT_CUDA(cudaEventQuery(event)) << "never recorded";
  EXPECT_CUDA(cudaEventRecord(event, stream));
  EXPECT_CUDA(cudaEventSynchronize(event));
  Gate gate(stream);
  EXPECT_CUDA(cudaEventRecord(event, stream));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  gate.open();
  EXPECT_CUDA(cudaEventSynchronize(event));
  EXPECT_CUDA(cudaEventQuery(event));
}

TEST(FakeEvent, AWaitIsForTheRecordingBeforeIt) {
  const cudaStream_t held = new_stream();
  const cudaStream_t other = new_stream();
  const cudaEvent_t event = new_event();
  EXPECT_CUDA(cudaEventRecord(event, held));
  EXPECT_CUDA(cudaStreamWaitEvent(other, event, 0));
  Gate gate(held);
  EXPECT_CUDA(cudaEventRecord(event, held));
  EXPECT_CUDA(cudaStreamSynchronize(other)) << "does not wait for the second recording";
  gate.open();
}

TEST(FakeEvent, TimeBetweenTwoIsThatOfTheWorkBetweenThem) {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t begin = new_event(cudaEventDefault);
  const cudaEvent_t end = new_event(cudaEventDefault);
  Gate gate(stream);
  EXPECT_CUDA(cudaEventRecord(begin, stream));
  const auto nap = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  EXPECT_CUDA(cudaLaunchHostFunc(stream, nap, nullptr));
  EXPECT_CUDA(cudaEventRecord(end, stream));
  float ms = 0.0F;
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaErrorNotReady);
  gate.open();
  EXPECT_CUDA(cudaEventSynchronize(end));
  EXPECT_CUDA(cudaEventElapsedTime(&ms, begin, end));
  EXPECT_GE(ms, 20.0F);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, new_event()), cudaErrorInvalidResourceHandle) << "has no time";
}

TEST(FakeStream, IsFinishedThoughItsHandleIsDestroyed) {
  const cudaStream_t stream = new_stream();
  const cudaEvent_t done = new_event();
  int* source = pinned(1, 7);
  int* target = pinned(1, 1);
  Gate gate(stream);
  EXPECT_CUDA(cudaMemcpyAsync(target, source, kBytes, cudaMemcpyDefault, stream));
  EXPECT_CUDA(cudaEventRecord(done, stream));
  EXPECT_CUDA(cudaStreamDestroy(stream));
  gate.open();
  EXPECT_CUDA(cudaEventSynchronize(done));
  EXPECT_EQ(*target, 7);
}

TEST(FakeDevice, AMemsetOfTheDefaultStreamIsWaitedForByNoOtherStream) {
  int* device = on_device<int>(std::vector{2});
  int* read = pinned(1, 1);
  const cudaStream_t other = new_stream();
  Gate gate(nullptr);
  EXPECT_CUDA(cudaMemset(device, 0, kBytes));
  EXPECT_CUDA(cudaMemcpyAsync(read, device, kBytes, cudaMemcpyDeviceToHost, other));
  EXPECT_CUDA(cudaStreamSynchronize(other));
  EXPECT_EQ(*read, 2);
  gate.open();
  EXPECT_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  EXPECT_EQ(on_host(device, 1).front(), 0);
}

}  // namespace
}  // namespace steelyard::fake_gpu
