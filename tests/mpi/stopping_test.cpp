// A trial that some rank is told to stop ends soon on every rank, whoever is told and whatever it plays;
// where workers are in step it is then the training of fewer steps.
#include "modes/stopping.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/harness.hpp"
#include "tests/support/totals.hpp"

namespace steelyard {
namespace {

constexpr Step kSteps = 100'000;  // Takes far longer than the test may.
constexpr Step kWhen = 3;
constexpr int kEverybody = -1;

TrialConfig base() {
  TrialConfig config;
  config.global_batch = 24;
  config.steps = kSteps;
  config.optimizer_options.rate = 1e-4F;
  config.evaluate_at_end = false;
  config.bundle_bytes = 512;
  return config;
}

ModelSpec mlp() { return describe_model("mlp:20-9-10").value(); }

/// `who` is told once it has seen kWhen steps; a rank that sees none, at once.
test::Outcome run(const TrialConfig& config, int who, const ModelSpec& model = mlp(),
                  const mpi::Topology& topology = test::launch().topology) {
  const Rank rank = test::launch().world.rank();
  const Roles roles = find_mode(config.mode).value()->roles(config, topology.node_of_rank);
  const bool here = who == kEverybody || who == rank;
  bool told = here && Roles::index_in(roles.idle, rank) != Roles::kNone;
  const auto progress = [&](Step step) { told = told || (here && step >= kWhen); };
  return test::run_trial(config, model, test::small_dataset(model), progress, topology,
                         [&told] { return told; });
}

/// Everybody, the first rank alone (a server, or idle), the last one alone (a worker).
std::vector<int> tellings() { return {kEverybody, 0, test::launch().world.size() - 1}; }

/// One server, and half of the ranks.
std::set<int> server_counts() {
  const int ranks = test::launch().world.size();
  if (ranks == 1) return {};
  return {1, std::max(ranks / 2, 1)};
}

/// On rank 0: steps of each worker.
std::vector<Step> steps(const test::Outcome& outcome) {
  std::vector<Step> counts;
  for (const trace::RankTrial& rank : outcome.ranks)
    if (!rank.steps.empty()) counts.push_back(static_cast<Step>(rank.steps.size()));
  return counts;
}

/// In step: the same whole steps on all workers, of which nothing was dropped, and the serial training of as
/// many.
void expect_whole_steps(TrialConfig config, int who, const std::string& what,
                        const mpi::Topology& topology = test::launch().topology) {
  const auto outcome = run(config, who, mlp(), topology);
  EXPECT_TRUE(outcome.stopped) << what << " told " << who;
  auto counts = steps(outcome);
  for (const Step count : counts) EXPECT_EQ(count, counts.front()) << what << " told " << who;
  for (const trace::RankTrial& rank : outcome.ranks) EXPECT_TRUE(rank.drops.empty()) << what;
  if (counts.empty()) return;  // Not rank 0.
  EXPECT_GE(counts.front(), 1) << what;
  EXPECT_LT(counts.front(), kSteps) << what;
  config.steps = counts.front();
  EXPECT_LE(test::distance(mlp(), outcome.values, test::serial(config, mlp(), test::small_dataset(mlp()))),
            1e-5)
      << what << " told " << who << " steps " << counts.front();
}

TEST(Stopping, AnAllreduceEndsAfterAWholeStep) {
  for (const char* collective : {"auto", "mpi", "ring", "recursive", "shared"})
    for (const bool sharded : {false, true}) {
      TrialConfig config = test::allreduce(base(), collective);
      config.sharded_optimizer = sharded;
      expect_whole_steps(config, test::launch().world.size() - 1, collective);
    }
  expect_whole_steps(test::allreduce(base()), kEverybody, "auto");
}

TEST(Stopping, ARankWithoutWorkIsHeardToo) {
  for (const int idle : server_counts()) {
    TrialConfig config = test::allreduce(base());
    config.servers = idle;
    for (const int who : tellings()) expect_whole_steps(config, who, std::to_string(idle) + " idle");
  }
}

TEST(Stopping, BspEndsAfterAWholeStepWhoeverIsTold) {
  for (const int servers : server_counts())
    for (const test::Way& way : test::kWays) {
      if (servers > 1 && std::string_view(way.transport) != "auto") continue;
      TrialConfig config = base();
      config.servers = servers;
      config.transport = way.transport;
      config.aggregate = way.aggregate;
      for (const int who : tellings())
        expect_whole_steps(config, who, way.transport, test::pretend_nodes(way.nodes));
    }
}

void expect_all_gone(const TrialConfig& config, int who, const char* what, const ModelSpec& model = mlp()) {
  const auto outcome = run(config, who, model);
  EXPECT_TRUE(outcome.stopped) << what << " told " << who;
  for (const Step count : steps(outcome)) EXPECT_LT(count, kSteps) << what << " told " << who;
  const test::Totals sum = test::totals(outcome.ranks);
  EXPECT_EQ(sum.pushes, sum.applied + sum.dropped) << what << " told " << who;
  // One worker is in step with itself.
  const bool alone = test::launch().world.size() - config.servers == 1;
  EXPECT_TRUE((sum.stopped > 0) != alone || test::launch().world.rank() != 0) << what << " told " << who;
}

TEST(Stopping, WorkersThatAreNotInStepEndToo) {
  const int ranks = test::launch().world.size();
  for (const int servers : server_counts())
    for (const char* consistency : {"asp", "ssp", "bsp"}) {
      const bool backup = std::string_view(consistency) == "bsp";
      if (backup && ranks - servers < 2) continue;
      TrialConfig config = base();
      config.servers = servers;
      config.consistency = consistency;
      config.consistency_options.max_lag = 1;
      config.consistency_options.backup_workers = backup ? 1 : 0;
      for (const int who : tellings()) expect_all_gone(config, who, consistency);
    }
}

TEST(Stopping, PushesThatWouldBeMadeAgainAreNot) {
  if (test::launch().world.size() < 3) return;
  TrialConfig config = base();
  config.consistency = "asp";
  config.staleness_policy = "drop";
  config.staleness_options.max_staleness = 0;
  config.staleness_options.recompute = true;
  for (const int who : tellings()) expect_all_gone(config, who, "recompute");
}

TEST(Stopping, ReplayStillChecksEveryValue) {
  const ModelSpec model = describe_model("replay:mlp:20-9-10").value();
  TrialConfig config = test::allreduce(base());
  config.emulation.compute_ms = 0.1;
  EXPECT_TRUE(run(config, 0, model).stopped);
  if (test::launch().world.size() < 2) return;
  config = base();
  config.emulation.compute_ms = 0.1;
  EXPECT_TRUE(run(config, 0, model).stopped);
  config.consistency = "asp";
  expect_all_gone(config, 0, "replay asp", model);
}

TEST(Stopping, WhoIsToldAfterTheLastStepLeavesOutTheEvaluationsAlone) {
  for (const bool evaluates : {false, true}) {
    TrialConfig config = test::allreduce(base());
    config.steps = kWhen;
    config.evaluate_at_end = evaluates;
    config.evaluate_every = evaluates ? 1 : 0;
    const auto outcome = run(config, test::launch().world.size() - 1);
    for (const Step count : steps(outcome)) EXPECT_EQ(count, kWhen);
    EXPECT_EQ(outcome.stopped, evaluates) << "what is whole is not stopped";
    EXPECT_TRUE(outcome.evaluations.empty());
  }
}

TEST(Stopping, NobodyIsToldByHimself) {
  TrialConfig config = test::allreduce(base());
  config.steps = 20;
  EXPECT_FALSE(test::run_trial(config, mlp(), test::small_dataset(mlp())).stopped);
}

}  // namespace
}  // namespace steelyard
