/// @file
/// Allreduce by Gloo over TCP on the loopback interface, its only transport here. Starts its own ranks:
/// bench_gloo --ranks N [--rounds N] [--quick] --csv. Prints what bench_allreduce --csv prints, for the ring
/// and for the bcube algorithm of gloo::allreduce. Every sum is checked.

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/timing.hpp"

namespace steelyard::bench {
namespace {

using gloo::AllreduceOptions;
using Way = AllreduceOptions::Algorithm;
using Ranks = std::shared_ptr<gloo::Context>;

struct Algorithm {
  const char* name;
  Way which;
};
constexpr Algorithm kAlgorithms[] = {{"gloo ring", Way::RING}, {"gloo bcube", Way::BCUBE}};

template <typename T, void (*kReduce)(void*, const void*, const void*, std::size_t)>
void allreduce(const Ranks& ranks, std::vector<T>& data, Way algorithm) {
  AllreduceOptions options(ranks);
  options.setAlgorithm(algorithm);
  options.setOutput(data.data(), data.size());
  options.setReduceFunction(kReduce);
  gloo::allreduce(options);
}

float pattern(std::size_t i) { return static_cast<float>(i % 61 + 1); }

void barrier(const Ranks& ranks) {
  gloo::BarrierOptions options(ranks);
  gloo::barrier(options);
}

double one(const Ranks& ranks, std::vector<float>& data, const Algorithm& algorithm) {
  const auto mine = static_cast<float>(ranks->rank + 1);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = mine * pattern(i);
  barrier(ranks);
  const double begin_s = now_s();
  allreduce<float, gloo::sum<float>>(ranks, data, algorithm.which);
  const double seconds = now_s() - begin_s;
  const auto factor = static_cast<float>(ranks->size * (ranks->size + 1) / 2);
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != factor * pattern(i)) throw std::runtime_error(fmt::format("element {} is wrong", i));
  return seconds;
}

/// @return the median, in seconds, of the greatest times over the ranks.
double measure(const Ranks& ranks, std::size_t bytes, const Algorithm& algorithm, int timed) {
  std::vector<float> data(bytes / sizeof(float));
  std::vector<double> seconds;
  for (int i = -kWarmup; i < timed; ++i) {
    const double time = one(ranks, data, algorithm);
    if (i >= 0) seconds.push_back(time);
  }
  allreduce<double, gloo::max<double>>(ranks, seconds, Way::RING);
  return trace::median(seconds);
}

void run(int rank, int size, const std::string& folder, const Options& options) {
  gloo::rendezvous::FileStore store(folder);
  const auto ranks = std::make_shared<gloo::rendezvous::Context>(rank, size);
  std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice("127.0.0.1");
  ranks->connectFullMesh(store, device);
  if (rank == 0) fmt::print("bytes,ranks,by,us\n");
  for (std::size_t bytes = kSizes.front(); bytes <= kSizes.back(); bytes *= 4)
    for (int round = 0; round < options.rounds; ++round)
      for (const Algorithm& algorithm : kAlgorithms) {
        const double seconds = measure(ranks, bytes, algorithm, iterations(bytes, options.quick));
        if (rank == 0) fmt::print("{},{},{},{:.3f}\n", bytes, size, algorithm.name, seconds * kMicro);
        std::fflush(stdout);
      }
  barrier(ranks);
}

/// @return 0, or 1 after a message.
int run_guarded(int rank, int size, const std::string& folder, const Options& options) {
  try {
    run(rank, size, folder, options);
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "bench_gloo: rank {}: {}\n", rank, failure.what());
    return 1;
  }
}

/// Ranks are processes made before Gloo has any thread.
int run_ranks(int size, const Options& options) {
  std::string folder = (std::filesystem::temp_directory_path() / "steelyard-gloo-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  for (int rank = 1; rank < size; ++rank)
    if (fork() == 0) _exit(run_guarded(rank, size, folder, options));
  int worst = run_guarded(0, size, folder, options);
  for (int status = 0; wait(&status) > 0;) worst = std::max(worst, status == 0 ? 0 : 1);
  std::filesystem::remove_all(folder);
  return worst;
}

}  // namespace
}  // namespace steelyard::bench

int main(int argc, char** argv) {
  using namespace steelyard;
  int ranks = 0;
  if (argc > 2 && std::string_view(argv[1]) == "--ranks") ranks = std::atoi(argv[2]);
  const auto options = ranks < 2 ? Expected<bench::Options>(Error{"say first --ranks N, 2 or more"})
                                 : bench::parse_options(argc - 2, argv + 2);
  if (!options) {
    fmt::print(stderr, "bench_gloo: {}\n", options.error().message);
    return 2;
  }
  return bench::run_ranks(ranks, options.value());
}
