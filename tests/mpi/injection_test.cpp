/// Injected slowness changes how long things take, and nothing else; and it does slow what it names. Times
/// are only compared within a trial.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "src/mpi/slow_links.hpp"
#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

int ranks() { return test::launch().world.size(); }

TrialConfig base(const std::string& slow) {
  TrialConfig config = test::small_config(8);
  config.injection = parse_injection(slow).value();
  return config;
}

std::string link(Rank a, Rank b, const char* share = "0.5") {
  return "link=" + std::to_string(a) + "-" + std::to_string(b) + ":bandwidth=" + share;
}

/// Every kind of slowness in every mode that these ranks can play.
std::vector<TrialConfig> all_kinds() {
  const std::string compute = "worker=0:compute=2,worker=*:jitter=0.5";
  std::vector<TrialConfig> all;
  for (const char* collective : {"auto", "mpi"}) all.push_back(test::allreduce(base(compute), collective));
  for (const char* collective : {"ring", "recursive"})
    for (const bool sharded : {false, true}) {
      // In a fold of recursive halving the first rank talks to the second.
      all.push_back(test::allreduce(base(ranks() > 1 ? compute + "," + link(0, 1) : compute), collective));
      all.back().sharded_optimizer = sharded;
    }
  for (int servers = 1; servers < ranks(); ++servers)
    for (const char* transport : {"message", "shared"}) {
      const std::string apply = compute + ",server=0:apply=3,server=*:apply=1.5";
      const bool message = std::string_view(transport) == "message";
      all.push_back(base(message ? apply + "," + link(0, servers) : apply));
      all.back().servers = servers;
      all.back().transport = transport;
    }
  return all;
}

TEST(Injection, SynchronousModesStayTheSerialAlgorithm) {
  constexpr double kTolerance = 1e-5;  // As in equals_serial_test.
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const Dataset dataset = test::small_dataset(model);
  const std::vector<float> wanted = test::serial(base(""), model, dataset);
  for (const TrialConfig& config : all_kinds()) {
    const test::Outcome outcome = test::run_trial(config, model, dataset);
    EXPECT_LE(test::distance(model, outcome.values, wanted), kTolerance)
        << config.mode << " " << config.collective << " " << config.servers << " " << config.transport << " "
        << config.injection.text();
    EXPECT_EQ(mpi::SlowLinks::of(test::launch().pushes), nullptr) << "links are as before";
    EXPECT_EQ(mpi::SlowLinks::of(test::launch().replies), nullptr);
  }
}

TEST(Injection, ReplayStillReceivesEveryElement) {
  const ModelSpec model = describe_model("replay:lenet").value();
  const Dataset dataset = load_dataset({"none", "", model.inputs, model.classes, 0}).value();
  for (TrialConfig config : all_kinds()) {
    config.emulation.compute_ms = 1.0;
    EXPECT_NE(test::run_trial(config, model, dataset).hash, 0U);
    if (config.mode != "ps") continue;
    config.consistency = "asp";
    EXPECT_NE(test::run_trial(config, model, dataset).hash, 0U);
  }
}

test::Outcome replay(TrialConfig config, const char* name) {
  const ModelSpec model = describe_model(name).value();
  config.bundle_bytes = 128 * 1024;
  config.piece_bytes = 1 << 20;
  return test::run_trial(config, model, load_dataset({"none", "", model.inputs, model.classes, 0}).value());
}

/// Of the step in which it was least, without the first ones: the one that a busy machine disturbed least.
template <typename Time>
double least_of(const test::Outcome& outcome, Rank rank, Time&& time) {
  double least = std::numeric_limits<double>::infinity();
  for (const trace::StepRow& row : outcome.ranks[static_cast<std::size_t>(rank)].steps)
    if (row.step >= 2) least = std::min(least, static_cast<double>(time(row)));
  return least;
}

// Sleeps are late on a busy machine, those of the slowed worker and of the others alike: the margins are for
// that.
TEST(Injection, ASlowedWorkerComputesAsMuchLongerAsItWasToldTo) {
  const int servers = ranks() > 2 ? 1 : 0;
  if (ranks() - servers < 2) return;  // On one rank there is nobody beside the slowed worker.
  TrialConfig config = base("worker=1:compute=3");
  if (servers == 0) config = test::allreduce(config);
  config.servers = servers;
  config.steps = 20;
  config.emulation.compute_ms = 6.0;
  const test::Outcome outcome = replay(config, "replay:lenet");
  if (test::launch().world.rank() != 0) return;
  const auto compute = [](const trace::StepRow& row) { return row.forward_ns + row.backward_ns; };
  const double slowed = least_of(outcome, servers + 1, compute);
  for (int worker = 0; worker < ranks() - servers; ++worker) {
    if (worker == 1) continue;
    EXPECT_GT(slowed / least_of(outcome, servers + worker, compute), 2.2) << worker;
    EXPECT_LT(slowed / least_of(outcome, servers + worker, compute), 4.0) << worker;
  }
}

/// Of all windows of a server, in nanoseconds.
struct Load {
  std::int64_t busy = 0, cpu = 0, wall = 0;
};
Load load_of(const test::Outcome& outcome, std::size_t server) {
  Load load;
  for (const trace::LoadRow& row : outcome.ranks[server].loads) {
    load.busy += row.busy_ns;
    load.cpu += row.cpu_ns;
    load.wall += row.end_ns - row.begin_ns;
  }
  return load;
}

// The CPU time of two servers may differ tenfold on a busy virtual machine, so each is compared with its own.
TEST(Injection, ASlowedServerAloneIsBusyBeyondItsCpuTime) {
  if (ranks() < 3) return;  // Two servers and a worker.
  constexpr std::int64_t kFactor = 50;
  TrialConfig config = base("server=1:apply=50");
  config.servers = 2;
  config.steps = 60;
  config.placement = "range";
  const test::Outcome outcome = replay(config, "replay:mlp:784-256-128-64-10");
  if (test::launch().world.rank() != 0) return;
  const Load other = load_of(outcome, 0);
  EXPECT_LE(other.busy, other.cpu);
  const Load slowed = load_of(outcome, 1);
  EXPECT_GT(slowed.busy, 2 * slowed.cpu) << "it handles pushes in more than a 25th of its CPU time";
  EXPECT_LE(slowed.busy, kFactor * slowed.cpu);
  EXPECT_GE(slowed.wall, slowed.busy - slowed.cpu) << "the delay was slept";
}

TEST(Injection, ASlowLinkHoldsUpThoseAtItsEndsAlone) {
  if (ranks() < 3) return;  // A server and two workers.
  TrialConfig config = base(link(0, 1, "0.005"));
  config.servers = 1;
  config.steps = 16;
  config.transport = "message";
  config.consistency = "asp";  // So that nobody waits for the slow one.
  const test::Outcome outcome = replay(config, "replay:mlp:784-256-128-64-10");
  if (test::launch().world.rank() != 0) return;
  const auto duration = [](const trace::StepRow& row) { return row.end_ns - row.begin_ns; };
  for (Rank rank = 2; rank < ranks(); ++rank)
    EXPECT_GT(least_of(outcome, 1, duration) / least_of(outcome, rank, duration), 3.0) << rank;
}

}  // namespace
}  // namespace steelyard
