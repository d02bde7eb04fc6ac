// Consistency and staleness policies on real ranks: with one worker nothing is ever stale, what is dropped is
// counted alike by everybody, replies are whole, and the lead of a worker is bounded.
#include <gtest/gtest.h>

#include "tests/support/harness.hpp"
#include "tests/support/totals.hpp"

namespace steelyard {
namespace {

struct Policy {
  const char* consistency;
  const char* staleness = "keep";
  ps::StalenessOptions options{};
  int backup = 0;
  bool drops = false;
};
constexpr ps::StalenessOptions kTight{.max_staleness = 0};
constexpr ps::StalenessOptions kAgain{.max_staleness = 0, .recompute = true};
const Policy kPolicies[] = {{"ssp"},
                            {"asp", "drop", kTight, 0, true},
                            {"asp", "drop", kAgain, 0, true},
                            {"ssp", "drop", kAgain, 0, true},
                            {"asp", "damp"},
                            {"asp", "compensate"},
                            {"ssp", "cost_aware", {}, 0, true},
                            {"bsp", "keep", {}, 1, true}};

TrialConfig base(const Policy& policy, int servers) {
  TrialConfig config;
  config.consistency = policy.consistency;
  config.consistency_options = {.max_lag = 1, .backup_workers = policy.backup};
  config.staleness_policy = policy.staleness;
  config.staleness_options = policy.options;
  config.servers = servers;
  config.bundle_bytes = 4096;
  config.piece_bytes = 32 * 1024;
  config.global_batch = 24;
  config.steps = 20;
  config.seed = 5;
  config.optimizer_options.rate = 0.002F;  // A lone push weighs as much as all together would.
  config.evaluate_at_end = false;
  return config;
}

TEST(Policies, WithOneWorkerAllAreSerial) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const Dataset dataset = test::small_dataset(model);
  const int ranks = test::launch().world.size();
  if (ranks < 2) return;
  for (const Policy& policy : kPolicies) {
    if (policy.backup > 0) continue;  // Of one worker none can be left out.
    const TrialConfig config = base(policy, ranks - 1);
    const test::Outcome outcome = test::run_trial(config, model, dataset);
    EXPECT_LE(test::distance(model, outcome.values, test::serial(config, model, dataset)), 1e-5)
        << policy.consistency << " " << policy.staleness;
    EXPECT_EQ(outcome.drops, 0U);
  }
}

void expect_conserved(const Policy& policy, const TrialConfig& config, const test::Outcome& outcome) {
  const double heard = mpi::sum(test::launch().world, static_cast<double>(outcome.drops));
  if (test::launch().world.rank() != 0) return;
  const test::Totals t = test::totals(outcome.ranks);
  const std::string what = std::string(policy.consistency) + " " + policy.staleness + " servers " +
                           std::to_string(config.servers) + " " + config.transport;
  EXPECT_EQ(t.pushes, t.applied + t.dropped) << what;
  EXPECT_EQ(t.pulls, t.pushes) << what;
  EXPECT_EQ(t.staleness, t.applied) << what;
  EXPECT_EQ(static_cast<double>(t.dropped), heard) << what << ": workers hear of every drop";
  EXPECT_EQ(t.server_in, t.worker_out) << what;
  EXPECT_TRUE(policy.drops || t.dropped == 0) << what;
  // Staleness is the number of other workers in the mean, so a bound of 0 must be felt.
  const bool felt = policy.drops && std::string_view(policy.staleness) == "drop" &&
                    test::launch().world.size() - config.servers > 1;
  EXPECT_TRUE(!felt || t.dropped > 0) << what;
}

TEST(Policies, EveryPushIsAppliedOrDroppedAndCounted) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const Dataset dataset = test::small_dataset(model);
  const int ranks = test::launch().world.size();
  for (const Policy& policy : kPolicies)
    for (const test::Way& way : test::kWays) {
      if (std::string_view(way.aggregate) != "none" && way.nodes > 1) continue;  // Pushes are never summed.
      for (int servers = 1; servers + policy.backup < ranks; ++servers) {
        TrialConfig config = base(policy, servers);
        config.transport = way.transport;
        const auto topology = test::pretend_nodes(way.nodes);
        expect_conserved(policy, config,
                         test::run_trial(
                             config, model, dataset, [](Step) {}, topology));
      }
    }
}

TEST(Policies, RepliesAreWhole) {
  const ModelSpec model = describe_model("replay:lenet").value();
  const Dataset dataset = load_dataset({"none", "", model.inputs, model.classes, 0}).value();
  const int ranks = test::launch().world.size();
  for (const Policy& policy : kPolicies)
    for (const char* transport : {"message", "shared"})
      for (int servers = 1; servers + policy.backup < ranks; ++servers) {
        TrialConfig config = base(policy, servers);
        config.transport = transport;
        config.steps = 40;
        EXPECT_NE(test::run_trial(config, model, dataset).hash, 0U);
      }
}

TEST(Policies, BackupWorkersMakeEveryUpdateOfTheOthers) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const Dataset dataset = test::small_dataset(model);
  const int ranks = test::launch().world.size();
  for (int servers = 1; servers + 1 < ranks; ++servers)
    for (int backup = 1; servers + backup < ranks; ++backup) {
      const TrialConfig config = base({"bsp", "keep", {}, backup, true}, servers);
      const test::Outcome outcome = test::run_trial(config, model, dataset);
      if (test::launch().world.rank() != 0) continue;
      const StepTraffic traffic = find_mode("ps").value()->traffic(config, model, test::launch().topology);
      std::uint64_t bundles = 0;
      for (const auto& server : traffic.servers) bundles += server.messages / 2;  // Headers travel alone.
      const auto rest = static_cast<std::uint64_t>(ranks - servers - backup);
      if (traffic.transport == "message") {
        EXPECT_EQ(test::totals(outcome.ranks).applied,
                  rest * bundles * static_cast<std::uint64_t>(config.steps));
      }
      EXPECT_EQ(test::totals(outcome.ranks).applied % rest, 0U);
    }
}

}  // namespace
}  // namespace steelyard
