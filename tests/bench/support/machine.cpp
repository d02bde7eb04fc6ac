#include "tests/bench/support/machine.hpp"

#include <array>
#include <cstring>

#include "tests/bench/support/timing.hpp"

namespace steelyard::bench {
namespace {

/// Keeps the compiler from leaving out what produced `value`.
template <typename T>
void keep(T* value) {
  asm volatile("" : : "r"(value) : "memory");
}

/// Sums that do not wait for each other: enough to fill two pipelines of a latency of four or five cycles.
constexpr std::size_t kChains = 12;

template <typename Floats>
[[gnu::always_inline]] inline double chains(std::size_t repeats) {
  const Floats factor = Floats{} + 0.999F;
  const Floats term = Floats{} + 0.001F;
  std::array<Floats, kChains> sums{};
  keep(sums.data());  // Else the compiler sees that all chains are alike and follows one.
  for (std::size_t i = 0; i < repeats; ++i) {
#pragma GCC unroll 12
    for (std::size_t chain = 0; chain < kChains; ++chain) sums[chain] = sums[chain] * factor + term;
  }
  keep(sums.data());
  return 2.0 * static_cast<double>(repeats * kChains * sizeof(Floats) / sizeof(float));
}

typedef float Floats4 __attribute__((vector_size(16)));
#if defined(__x86_64__)
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64)));

[[gnu::target("avx512f")]] double chains_of_16(std::size_t repeats) { return chains<Floats16>(repeats); }
[[gnu::target("avx2,fma")]] double chains_of_8(std::size_t repeats) { return chains<Floats8>(repeats); }
#endif

}  // namespace

double multiply_and_add(std::size_t repeats) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return chains_of_16(repeats);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return chains_of_8(repeats);
#endif
  return chains<Floats4>(repeats);
}

void Copy::once() {
  std::memcpy(to_.data(), from_.data(), from_.size() * sizeof(float));
  keep(to_.data());
}

std::vector<double> run_alone(const mpi::Communicator& ranks, int timed, const std::function<void()>& work) {
  std::vector<double> seconds;
  mpi::barrier(ranks, mpi::Wait::yield);
  for (int i = -kWarmup; i < timed && ranks.rank() == 0; ++i) {
    const double begin_s = now_s();
    work();
    if (i >= 0) seconds.push_back(now_s() - begin_s);
  }
  mpi::barrier(ranks, mpi::Wait::sleep);
  return seconds;
}

std::vector<double> Copy::run_together(const mpi::Communicator& ranks, mpi::Wait wait, int timed) {
  std::vector<double> seconds;
  for (int i = -kWarmup; i < timed; ++i) {
    mpi::barrier(ranks, wait);
    const double begin_s = now_s();
    once();
    if (i >= 0) seconds.push_back(now_s() - begin_s);
  }
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), timed, MPI_DOUBLE, MPI_MAX, ranks.native()));
  return seconds;
}

}  // namespace steelyard::bench
