/// @file
/// The allreduce backends against each other, against MPI_Allreduce and against what the ranks' connection
/// can carry. On 2 to 4 ranks; rounds of the backends and of a plain ping-pong between ranks 0 and 1
/// alternate. Every result is checked. With --csv a line for every round, and a copy of as many bytes by all
/// ranks at once instead of the ping-pong: what another launch of it (MPI with other settings) can be paired
/// with.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "src/base/aligned.hpp"
#include "src/collective/collective.hpp"
#include "src/mpi/topology.hpp"
#include "src/mpi/wait.hpp"
#include "src/trace/metrics.hpp"
#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/machine.hpp"
#include "tests/bench/support/ping_pong.hpp"
#include "tests/bench/support/resident.hpp"
#include "tests/bench/support/timing.hpp"

namespace steelyard::bench {
namespace {

constexpr int kMostRanks = 4;

/// The blocking call, whose algorithms Open MPI chooses by other rules than those of MPI_Iallreduce.
constexpr const char* kBlocking = "MPI_Allreduce";
/// `shared` with all data in its window, as training in place has it; by its own name it copies in and out.
constexpr const char* kResident = "shared resident";
constexpr const char* kCopy = "copy";  ///< Of --csv only.

/// Every backend there is. The first is what the others are measured against.
constexpr std::array kBackends = {
#define COLLECTIVE(name, help) #name,
#include "src/collective/collectives.def"
#undef COLLECTIVE
    kBlocking,
    kResident,
};

struct Bench {
  const Options& options;
  const mpi::Communicator& world;
  mpi::Wait wait = mpi::choose_wait("auto", mpi::Topology::discover(world)).value();
};

/// One backend at one size.
class Contestant {
 public:
  Contestant(const Bench& bench, const char* backend, std::size_t bytes)
      : bench_(bench), private_(backend == kResident ? 0 : bytes / sizeof(float)) {
    if (backend == kResident) {
      resident_.emplace(bench.world, bytes / sizeof(float));
      data_ = resident_->summands();
      sums_ = resident_->sums();
      return;
    }
    data_ = private_.span();
    sums_ = data_;
    if (backend == kBlocking) return;
    collective_ = std::move(make_collective(backend, bench.world, {.wait = bench.wait})).value();
    collective_->add(data_);
  }

  /// Collective. @return seconds of each timed allreduce, the greatest over the ranks.
  std::vector<double> run(int timed) {
    std::vector<double> seconds;
    for (int i = -kWarmup; i < timed; ++i) {
      const double one = allreduce();
      if (i >= 0) seconds.push_back(one);
    }
    mpi::check(
        MPI_Allreduce(MPI_IN_PLACE, seconds.data(), timed, MPI_DOUBLE, MPI_MAX, bench_.world.native()));
    return seconds;
  }

 private:
  /// Small integers: every order of summation gives the same bits.
  static float pattern(std::size_t i) { return static_cast<float>(i % 61 + 1); }

  /// The data has just been written when it is reduced, as a gradient has.
  double allreduce() {
    const auto mine = static_cast<float>(bench_.world.rank() + 1);
    for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = mine * pattern(i);
    mpi::barrier(bench_.world, bench_.wait);
    const double begin_s = now_s();
    if (resident_) {
      resident_->start();
      mpi::wait_until(bench_.wait, [this] { return resident_->test(); });
    } else if (collective_) {
      collective_->start(0);
      mpi::wait_until(bench_.wait, [this] { return collective_->test(0); });
    } else {
      mpi::check(MPI_Allreduce(MPI_IN_PLACE, data_.data(), mpi::count(data_.size()), MPI_FLOAT, MPI_SUM,
                               bench_.world.native()));
    }
    const double seconds = now_s() - begin_s;
    check_sum();
    return seconds;
  }

  void check_sum() const {
    const int ranks = bench_.world.size();
    const auto factor = static_cast<float>(ranks * (ranks + 1) / 2);
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (sums_[i] != factor * pattern(i))
        die(fmt::format("element {} of the sum is {}, not {}", i, sums_[i], factor * pattern(i)));
  }

  const Bench& bench_;
  AlignedArray<float> private_;
  std::span<float> data_;                   ///< What this rank adds,
  std::span<const float> sums_;             ///< and where it finds the sums.
  std::unique_ptr<Collective> collective_;  ///< Neither for the blocking call.
  std::optional<ResidentSum> resident_;
};

/// Medians of the rounds, in seconds: of each backend, and of one message from rank 0 to rank 1 (half a round
/// trip).
struct Rounds {
  std::array<std::vector<double>, kBackends.size()> allreduce_s;
  std::vector<double> message_s;
};

Rounds measure(const Bench& bench, std::size_t bytes) {
  const int timed = iterations(bytes, bench.options.quick);
  Rounds rounds;
  const std::size_t turns = kBackends.size() + 1;
  for (std::size_t round = 0; round < static_cast<std::size_t>(bench.options.rounds); ++round)
    for (std::size_t turn = 0; turn < turns; ++turn) {
      const std::size_t which = (round + turn) % turns;
      // Fresh memory in every round: where its pages lie makes a difference that is to count as chance.
      if (which < kBackends.size())
        rounds.allreduce_s[which].push_back(
            trace::median(Contestant(bench, kBackends[which], bytes).run(timed)));
      else
        rounds.message_s.push_back(trace::median(PingPong(bench.world, bytes).run(timed)) / 2.0);
    }
  return rounds;
}

std::vector<double> quotients(const std::vector<double>& above, const std::vector<double>& below,
                              double factor) {
  std::vector<double> all(above.size());
  std::ranges::transform(above, below, all.begin(), [factor](double a, double b) { return factor * a / b; });
  return all;
}

void print_head(const Bench& bench) {
  fmt::print("Allreduce over {} ranks; {} rounds, wait policy {}, {}. Every sum was checked.\n",
             bench.world.size(), bench.options.rounds, mpi::wait_name(bench.wait), mpi::library_version());
  fmt::print(
      "A time is the greatest over the ranks; GB/s = 10^9 bytes/s. \"link\" is one-way bandwidth of a plain\n"
      "ping-pong of as many bytes between ranks 0 and 1; \"/{}\" is time over that of {}.\n\n",
      kBackends.front(), kBackends.front());
  fmt::print("{:>8} {:<16}{:>10}{:>8}{:>8}{:>8}   {:<20}   {}\n", "bytes", "by", "us", "algbw", "busbw",
             "link", "busbw/link [95 %]", fmt::format("/{} [95 %]", kBackends.front()));
}

void print_row(const Bench& bench, std::size_t bytes, std::size_t backend, const Rounds& rounds) {
  const int ranks = bench.world.size();
  const auto size = static_cast<double>(bytes);
  const auto& mine = rounds.allreduce_s[backend];
  const double seconds = trace::median(mine);
  const double algbw = trace::algorithm_bandwidth(size, seconds) / kGiga;
  const double busbw = trace::allreduce_bus_bandwidth(size, seconds, ranks) / kGiga;
  const double link = trace::algorithm_bandwidth(size, trace::median(rounds.message_s)) / kGiga;
  const auto of_link = trace::estimate_median(quotients(rounds.message_s, mine, busbw / algbw), kConfidence);
  const auto of_first = trace::estimate_median(quotients(mine, rounds.allreduce_s.front(), 1.0), kConfidence);
  fmt::print("{:>8} {:<16}{:>10.1f}{:>8.3f}{:>8.3f}{:>8.3f}   {:<20}   {}\n", size_text(bytes),
             kBackends[backend], seconds * kMicro, algbw, busbw, link, interval_text(of_link),
             backend == 0 ? "" : interval_text(of_first));
  std::fflush(stdout);
}

void run(const Bench& bench) {
  const bool speaks = bench.world.rank() == 0;
  if (speaks) print_head(bench);
  for (const std::size_t bytes : kSizes) {
    const Rounds rounds = measure(bench, bytes);
    for (std::size_t backend = 0; speaks && backend < kBackends.size(); ++backend)
      print_row(bench, bytes, backend, rounds);
  }
}

/// Whether --only asks for it, by its own name or for want of any.
bool wanted(const Bench& bench, std::string_view name) {
  const auto& only = bench.options.only;
  return only.empty() || std::ranges::find(only, name) != only.end();
}

void print_csv(const Bench& bench, std::size_t bytes, const char* name, const std::vector<double>& seconds) {
  if (bench.world.rank() != 0) return;
  fmt::print("{},{},{},{:.3f}\n", bytes, bench.world.size(), name, trace::median(seconds) * kMicro);
  std::fflush(stdout);
}

/// Sizes from 4 KiB in steps of four; who goes first changes from round to round.
void run_csv(const Bench& bench) {
  if (bench.world.rank() == 0) fmt::print("bytes,ranks,by,us\n");
  const auto rounds = static_cast<std::size_t>(bench.options.rounds);
  const std::size_t turns = kBackends.size() + 1;
  for (std::size_t bytes = kSizes.front(); bytes <= kSizes.back(); bytes *= 4)
    for (std::size_t turn = 0; turn < rounds * turns; ++turn) {
      const std::size_t which = (turn / turns + turn) % turns;
      const char* name = which < kBackends.size() ? kBackends[which] : kCopy;
      if (!wanted(bench, name)) continue;
      const int timed = iterations(bytes, bench.options.quick);
      print_csv(bench, bytes, name,
                name == kCopy ? Copy(bytes).run_together(bench.world, bench.wait, timed)
                              : Contestant(bench, name, bytes).run(timed));
    }
}

}  // namespace
}  // namespace steelyard::bench

int main(int argc, char** argv) {
  using namespace steelyard;
  const mpi::Environment environment(argc, argv);
  const auto world = mpi::Communicator::duplicate_world();
  const auto options = bench::parse_options(argc, argv);
  if (!bench::accept(world, options, bench::kMostRanks)) return 2;
  const bench::Bench all{options.value(), world};
  if (all.options.csv)
    bench::run_csv(all);
  else
    bench::run(all);
  return 0;
}
