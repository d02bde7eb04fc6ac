#include <cmath>
#include <cstdint>
#include <random>

#include "kernels/convert.hpp"
#include "tests/fake_gpu/ranks.hpp"

namespace steelyard::fake_gpu {
namespace {

const Variables kDevices = {{"STEELYARD_FAKE_GPU_DEVICES", "7"}};
constexpr std::size_t kCounts[] = {1, 5, 1000, 70'001};

struct Float {
  using Stored = float;
  static constexpr ncclDataType_t kType = ncclFloat32;
  static float from(float value) { return value; }
  static float add(float a, float b) { return a + b; }
};
struct Half {
  using Stored = std::uint16_t;
  static constexpr ncclDataType_t kType = ncclFloat16;
  static Stored from(float value) { return kernels::ToHalf{}(value); }
  static Stored add(Stored a, Stored b) { return from(kernels::FromHalf{}(a) + kernels::FromHalf{}(b)); }
};
struct Bfloat {
  using Stored = std::uint16_t;
  static constexpr ncclDataType_t kType = ncclBfloat16;
  static Stored from(float value) { return kernels::ToBfloat{}(value); }
  static Stored add(Stored a, Stored b) { return from(kernels::FromBfloat{}(a) + kernels::FromBfloat{}(b)); }
};
struct Integer {
  using Stored = int;
  static constexpr ncclDataType_t kType = ncclInt32;
  static int from(float value) { return static_cast<int>(std::lround(value * 1e6F)); }
  static int add(int a, int b) { return a + b; }
};

/// Values whose sum depends on the order.
template <typename Number>
std::vector<typename Number::Stored> values_of(int rank, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(rank) + 1);
  std::uniform_real_distribution<float> uniform(-100.0F, 100.0F);
  std::vector<typename Number::Stored> values(count);
  for (auto& value : values) value = Number::from(uniform(random));
  return values;
}

/// @param shift the sum of chunk c begins with rank c + shift, and goes round the ring.
template <typename Number>
std::vector<typename Number::Stored> ring_sum(int ranks, std::size_t count, int shift) {
  std::vector<std::vector<typename Number::Stored>> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(values_of<Number>(rank, count));
  std::vector<typename Number::Stored> sums(count);
  const auto n = static_cast<std::size_t>(ranks);
  for (std::size_t chunk = 0; chunk < n; ++chunk)
    for (std::size_t i = count * chunk / n; i < count * (chunk + 1) / n; ++i) {
      const std::size_t first = chunk + static_cast<std::size_t>(shift);
      sums[i] = all[first % n][i];
      for (std::size_t hop = 1; hop < n; ++hop) sums[i] = Number::add(sums[i], all[(first + hop) % n][i]);
    }
  return sums;
}

template <typename Number>
void check_all_reduce(const Rank& self) {
  for (const std::size_t count : kCounts) {
    const auto own = values_of<Number>(self.rank, count);
    const auto* in = on_device(own);
    auto* out = on_device(std::vector<typename Number::Stored>(count));
    auto* in_place = on_device(own);
    EXPECT_NCCL(ncclAllReduce(in, out, count, Number::kType, ncclSum, self.communicator, self.stream));
    EXPECT_NCCL(
        ncclAllReduce(in_place, in_place, count, Number::kType, ncclSum, self.communicator, self.stream));
    const auto expected = ring_sum<Number>(self.ranks, count, 0);
    EXPECT_EQ(on_host(out, count), expected);
    EXPECT_EQ(on_host(in_place, count), expected);
    EXPECT_EQ(on_host(in, count), own);
  }
}

class FakeNccl : public testing::TestWithParam<int> {
 protected:
  void run(const std::function<void(Rank&)>& test) const {
    const auto ends = in_ranks(GetParam(), kDevices, [&](Rank& rank) {
      rank.join();
      test(rank);
      EXPECT_NCCL(ncclCommFinalize(rank.communicator));
      EXPECT_NCCL(ncclCommDestroy(rank.communicator));
    });
    EXPECT_EQ(ends, std::vector<int>(ends.size(), 0));
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, FakeNccl, testing::Values(1, 2, 3, 4, 7));

TEST_P(FakeNccl, AllReduceHasTheBitsThatARingGives) {
  run([](const Rank& self) {
    check_all_reduce<Float>(self);
    check_all_reduce<Half>(self);
    check_all_reduce<Bfloat>(self);
    check_all_reduce<Integer>(self);
  });
}

TEST_P(FakeNccl, ReduceScatterLeavesEachItsPartOfTheSum) {
  run([](const Rank& self) {
    for (const std::size_t count : kCounts) {
      const auto ranks = static_cast<std::size_t>(self.ranks);
      const auto own = values_of<Float>(self.rank, count * ranks);
      const auto* in = on_device(own);
      auto* out = on_device(std::vector<float>(count));
      EXPECT_NCCL(ncclReduceScatter(in, out, count, ncclFloat32, ncclSum, self.communicator, self.stream));
      const auto sums = ring_sum<Float>(self.ranks, count * ranks, 1);
      const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(count) * self.rank;
      EXPECT_EQ(on_host(out, count), std::vector(begin, begin + static_cast<std::ptrdiff_t>(count)));
      EXPECT_EQ(on_host(in, count * ranks), own);
    }
  });
}

TEST_P(FakeNccl, AllGatherBringsAllPartsInTheirOrder) {
  run([](const Rank& self) {
    for (const std::size_t count : kCounts) {
      const auto* in = on_device(values_of<Float>(self.rank, count));
      auto* out = on_device(std::vector<float>(count * static_cast<std::size_t>(self.ranks)));
      EXPECT_NCCL(ncclAllGather(in, out, count, ncclFloat32, self.communicator, self.stream));
      for (int rank = 0; rank < self.ranks; ++rank)
        EXPECT_EQ(on_host(out + count * static_cast<std::size_t>(rank), count),
                  values_of<Float>(rank, count));
    }
  });
}

TEST_P(FakeNccl, BroadcastBringsTheValuesOfEveryRoot) {
  run([](const Rank& self) {
    for (int root = 0; root < self.ranks; ++root) {
      auto* buffer = on_device(values_of<Float>(self.rank, 70'001));
      EXPECT_NCCL(ncclBroadcast(buffer, buffer, 70'001, ncclFloat32, root, self.communicator, self.stream));
      EXPECT_EQ(on_host(buffer, 70'001), values_of<Float>(root, 70'001));
    }
  });
}

TEST_P(FakeNccl, SendsAndReceivesOfAGroupGoAtOnce) {
  run([](const Rank& self) {
    constexpr std::size_t kCount = 70'001;  // More than a pipe holds.
    const auto* in = on_device(values_of<Float>(self.rank, kCount));
    std::vector<float*> received;
    EXPECT_NCCL(ncclGroupStart());
    for (int peer = 0; peer < self.ranks; ++peer) {
      received.push_back(on_device(std::vector<float>(kCount)));
      EXPECT_NCCL(ncclSend(in, kCount, ncclFloat32, peer, self.communicator, self.stream));
      EXPECT_NCCL(ncclRecv(received.back(), kCount, ncclFloat32, peer, self.communicator, self.stream));
    }
    EXPECT_TRUE(self.is_idle()) << "nothing begins before the group ends";
    EXPECT_NCCL(ncclGroupEnd());
    for (int peer = 0; peer < self.ranks; ++peer)
      EXPECT_EQ(on_host(received[static_cast<std::size_t>(peer)], kCount), values_of<Float>(peer, kCount));
  });
}

TEST_P(FakeNccl, AnOperationWaitsForItsStreamAndNotForOthers) {
  run([](const Rank& self) {
    int* buffer = on_device<int>(std::vector{1});
    int* source = pinned(1, 2);
    Gate gate(self.stream);
    EXPECT_CUDA(cudaMemcpyAsync(buffer, source, sizeof(int), cudaMemcpyHostToDevice, self.stream));
    EXPECT_NCCL(ncclAllReduce(buffer, buffer, 1, ncclInt32, ncclSum, self.communicator, self.stream));
    EXPECT_EQ(cudaStreamQuery(self.stream), cudaErrorNotReady);
    const cudaStream_t other = new_stream();
    int* read = pinned(1, 0);
    EXPECT_CUDA(cudaMemcpyAsync(read, buffer, sizeof(int), cudaMemcpyDeviceToHost, other));
    EXPECT_CUDA(cudaStreamSynchronize(other));
    EXPECT_EQ(*read, 1) << "a read without a wait sees what was there before";
    gate.open();
    EXPECT_EQ(on_host(buffer, 1).front(), 2 * self.ranks);
  });
}

}  // namespace
}  // namespace steelyard::fake_gpu
