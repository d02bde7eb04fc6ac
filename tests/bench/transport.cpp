/// @file
/// What one exchange with a parameter server costs over what MPI needs to move the same bytes. On 2 ranks: a
/// worker on rank 0, a server on rank 1, one tensor in one bundle, through the program's own server loop and
/// PsSynchronizer. The exchange is push, the server's optimizer update (plain sgd) and reply. Beside it a
/// ping-pong that moves the same payload there and back and computes nothing, one that makes the same
/// update by hand; and on one rank alone a copy of as many bytes, and the update. Rounds of all alternate.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "modes/ps/placement/placement.hpp"
#include "modes/ps/server_loop.hpp"
#include "modes/ps/server_messages.hpp"
#include "modes/ps/synchronizer.hpp"
#include "modes/stopping.hpp"
#include "src/mpi/topology.hpp"
#include "src/trace/metrics.hpp"
#include "tests/bench/support/command_line.hpp"
#include "tests/bench/support/machine.hpp"
#include "tests/bench/support/ping_pong.hpp"
#include "tests/bench/support/timing.hpp"

namespace steelyard::bench {
namespace {

/// What is the same for every size.
struct Bench {
  const Options& options;
  const mpi::Communicator& world;
  mpi::Communicator pushes = world.duplicate();
  mpi::Communicator replies = world.duplicate();
  mpi::Communicator workers = world.split(world.rank() == 0 ? 0 : -1);
  mpi::Topology topology = mpi::Topology::discover(world);
  mpi::Wait wait = mpi::choose_wait("auto", topology).value();
};

// With gradients of 1 and a power of two as rate, the values after n steps are exactly -n times the rate.
constexpr float kRate = 1.0F / 1024.0F;

TrialConfig config_for(int timed) {
  TrialConfig config;
  config.optimizer = "sgd";
  config.optimizer_options.rate = kRate;
  config.steps = kWarmup + timed;
  config.evaluate_at_end = false;
  return config;
}

ModelSpec one_tensor(std::size_t bytes) {
  ModelSpec model;
  model.name = "one tensor";
  model.inventory.push_back({"payload", {bytes / sizeof(float)}, 0.0F});
  return model;
}

/// Exchanges of one bundle of `bytes`.
class Exchange {
 public:
  /// @param shared by shared memory, else by messages.
  Exchange(const Bench& bench, std::size_t bytes, int timed, bool shared)
      : bench_(bench),
        shared_(shared),
        config_(config_for(timed)),
        model_(one_tensor(bytes)),
        plan_(ps::make_plan(model_.inventory, ps::place("range", model_.inventory, {}).value().shards, 1,
                            config_.bundle_bytes)) {}

  /// Collective: a server from its first step to its last. @return seconds of each timed exchange on the
  /// worker.
  std::vector<double> run() {
    recorder_.begin_trial(0, config_.steps);
    Session session{config_,        roles_,         model_,          dataset_,    bench_.world, bench_.pushes,
                    bench_.replies, bench_.workers, bench_.topology, bench_.wait, recorder_,    [](Step) {}};
    Stopping stopping(session);  // Servers look at it.
    session.stopping = &stopping;
    const ps::Transport transport{{{shared_, shared_, false}}, shared_ ? "shared" : "message", "none", ""};
    std::optional<ps::NodeMemory> memory;
    if (shared_) memory.emplace(bench_.world, plan_, ps::NodeRoles{{0}, {0}}, transport.nodes.front());
    const ps::NodeMemory* const node = memory ? &*memory : nullptr;
    std::vector<double> seconds;
    if (bench_.world.rank() == 0)
      seconds = work(session, node);
    else
      ps::serve(session, plan_, transport, 0, node);
    stopping.finish();
    return seconds;
  }

 private:
  std::vector<double> work(Session& session, const ps::NodeMemory* node) {
    Parameters parameters(model_.inventory, plan_.layout, node == nullptr ? Arenas{} : node->arenas(0));
    std::vector<double> seconds;
    {
      const ps::WorkerSide side{plan_, 0, {0}, {{0}}, node};
      ps::PsSynchronizer synchronizer(session, side, parameters);
      mpi::barrier(session.pushes, session.wait);
      for (Step step = 0; step < config_.steps; ++step) {
        const double one = exchange(synchronizer, parameters, step);
        if (step >= kWarmup) seconds.push_back(one);
      }
    }
    check_values(parameters);
    return seconds;
  }

  /// From the moment the gradient is ready until the new values are here, in the order of the training loop.
  double exchange(ps::PsSynchronizer& synchronizer, Parameters& parameters, Step step) {
    std::ranges::fill(parameters.gradient(0), 1.0F);
    recorder_.begin_step(step);
    const double begin_s = now_s();
    const bool last = synchronizer.is_last(step + 1 == config_.steps, false);
    synchronizer.gradient_ready(0);
    synchronizer.finish_step(step, last);
    synchronizer.values_needed(0);
    return now_s() - begin_s;
  }

  void check_values(Parameters& parameters) const {
    const float expected = -kRate * static_cast<float>(config_.steps);
    for (const float value : parameters.values(0))
      if (value != expected)
        die(fmt::format("the values after the last reply are {}, not {}", value, expected));
  }

  const Bench& bench_;
  bool shared_;
  TrialConfig config_;
  Roles roles_{{1}, {0}, {}};
  ModelSpec model_;
  ps::Plan plan_;
  Dataset dataset_;
  trace::Recorder recorder_;
};

/// The same exchange as a short MPI program would make it: receive, update, send.
PingPong::Work update_by_hand() {
  const std::shared_ptr<const Optimizer> optimizer = std::move(make_optimizer("sgd", {kRate, 0.0F})).value();
  return [optimizer](std::span<const float> gradient, std::span<float> values) {
    optimizer->apply({values, gradient, values, {}, 1});
  };
}

/// The update without any exchange: reads gradient and values and writes values.
std::vector<double> update_alone(const Bench& bench, std::size_t bytes, int timed) {
  AlignedArray<float> gradient(bytes / sizeof(float));
  AlignedArray<float> values(gradient.size());
  const auto optimizer = std::move(make_optimizer("sgd", {kRate, 0.0F})).value();
  return run_alone(bench.world, timed, [&] {
    optimizer->apply({values.span(), gradient.span(), values.span(), {}, 1});
  });
}

/// The contestants; a round's figure is the median of its iterations.
enum Contestant : std::size_t { kExchange, kMessages, kPingPong, kByHand, kCopy, kUpdate, kContestants };
using Rounds = std::array<std::vector<double>, kContestants>;  ///< Seconds.

Rounds measure(const Bench& bench, std::size_t bytes) {
  const int timed = iterations(bytes, bench.options.quick);
  // Fresh memory in every round: where its pages lie makes a difference that is to count as chance.
  const std::function<std::vector<double>()> contestants[kContestants] = {
      [&] { return Exchange(bench, bytes, timed, true).run(); },
      [&] { return Exchange(bench, bytes, timed, false).run(); },
      [&] { return PingPong(bench.world, bytes).run(timed); },
      [&] { return PingPong(bench.world, bytes, update_by_hand()).run(timed); },
      [&] {
        Copy copy(bytes);
        return run_alone(bench.world, timed, [&copy] { copy.once(); });
      },
      [&] { return update_alone(bench, bytes, timed); }};
  Rounds rounds;
  for (std::size_t round = 0; round < static_cast<std::size_t>(bench.options.rounds); ++round)
    for (std::size_t turn = 0; turn < kContestants; ++turn) {
      const std::size_t who = (round + turn) % kContestants;
      rounds[who].push_back(trace::median(contestants[who]()));
    }
  return rounds;
}

void print_head(const Bench& bench) {
  if (bench.options.csv) {
    fmt::print("bytes,by,round,us\n");
    return;
  }
  fmt::print("One server, one worker, one bundle; {} rounds, wait policy {}, {}.\n", bench.options.rounds,
             mpi::wait_name(bench.wait), mpi::library_version());
  fmt::print(
      "exchange: through shared memory; messages: the same by MPI. Each is push, the server's sgd update, "
      "reply. ping-pong: the same payload there and back by plain\n"
      "MPI, computing nothing. by hand: MPI_Recv, the same update, MPI_Send. What is sent has just been\n"
      "written. GB/s is 2 x bytes / time, 10^9 bytes. Ratios are of times: exchange / the other.\n\n");
  fmt::print("{:>8}{:>12}{:>7}{:>13}{:>7}{:>12}{:>13}  {:<19}  {:<19}  {}\n", "bytes", "exchange us", "GB/s",
             "ping-pong us", "GB/s", "by hand us", "messages us", "/ping-pong [95 %]", "/by hand [95 %]",
             "messages/ping-pong");
}

trace::Estimate ratio(const Rounds& rounds, Contestant one, Contestant other) {
  std::vector<double> all;
  for (std::size_t i = 0; i < rounds[one].size(); ++i) all.push_back(rounds[one][i] / rounds[other][i]);
  return trace::estimate_median(all, kConfidence);
}

void print_row(std::size_t bytes, const Rounds& rounds) {
  const double ours = trace::median(rounds[kExchange]);
  const double plain = trace::median(rounds[kPingPong]);
  const double hand = trace::median(rounds[kByHand]);
  const auto to_plain = ratio(rounds, kExchange, kPingPong);
  const auto to_hand = ratio(rounds, kExchange, kByHand);
  const auto messages = ratio(rounds, kMessages, kPingPong);
  const double messages_us = kMicro * trace::median(rounds[kMessages]);
  const auto moved = 2.0 * static_cast<double>(bytes);
  const double ours_speed = trace::algorithm_bandwidth(moved, ours) / kGiga;
  const double plain_speed = trace::algorithm_bandwidth(moved, plain) / kGiga;
  fmt::print("{:>8}{:>12.1f}{:>7.3f}{:>13.1f}{:>7.3f}{:>12.1f}{:>13.1f}  {:<19}  {:<19}  {}\n",
             size_text(bytes), ours * kMicro, ours_speed, plain * kMicro, plain_speed, hand * kMicro,
             messages_us, interval_text(to_plain), interval_text(to_hand), interval_text(messages));
  std::fflush(stdout);
}

void print_rounds(std::size_t bytes, const Rounds& rounds) {
  constexpr std::array kNames = {"exchange", "messages", "ping_pong", "by_hand", "copy", "update"};
  for (std::size_t who = 0; who < kContestants; ++who)
    for (std::size_t round = 0; round < rounds[who].size(); ++round)
      fmt::print("{},{},{},{:.3f}\n", bytes, kNames[who], round, rounds[who][round] * kMicro);
  std::fflush(stdout);
}

void run(const Bench& bench) {
  const bool speaks = bench.world.rank() == 0;
  if (speaks) print_head(bench);
  for (const std::size_t bytes : kSizes) {
    const Rounds rounds = measure(bench, bytes);
    if (!speaks) continue;
    if (bench.options.csv)
      print_rounds(bytes, rounds);
    else
      print_row(bytes, rounds);
  }
}

}  // namespace
}  // namespace steelyard::bench

int main(int argc, char** argv) {
  using namespace steelyard;
  const mpi::Environment environment(argc, argv);
  const auto world = mpi::Communicator::duplicate_world();
  const auto options = bench::parse_options(argc, argv);
  if (!bench::accept(world, options, 2)) return 2;
  bench::run({options.value(), world});
  return 0;
}
