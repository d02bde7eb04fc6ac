// The laws of consistency and staleness over every execution of small cases, without MPI.
#include <gtest/gtest.h>

#include <cmath>

#include "src/base/random.hpp"
#include "tests/support/server_world.hpp"

namespace steelyard::ps {
namespace {

struct Seen {
  std::size_t executions = 0;
  std::uint64_t dropped = 0;
  Clock lead = 0;
};

void expect_conserved(World& world) {
  Server& server = world.server();
  EXPECT_TRUE(server.finished());
  EXPECT_EQ(server.waiting(), 0);
  EXPECT_EQ(server.pushes(), server.applied() + server.dropped());
  EXPECT_EQ(server.dropped(), server.drops().size());
  EXPECT_EQ(server.dropped(), world.refused()) << "a worker hears of every drop";
}

/// Explores with replies that leave at once and at any moment; `check` sees every end.
Seen explore_all(
    const Scene& scene, const std::function<void(World&)>& check = [](World&) {}) {
  Seen seen;
  for (const bool late : {false, true})
    seen.executions += explore(scene, late, [&](World& world) {
      expect_conserved(world);
      check(world);
      seen.dropped += world.server().dropped();
      seen.lead = std::max(seen.lead, world.greatest_lead());
    });
  return seen;
}

TEST(ServerPolicies, SspBoundsTheLeadAtEveryRead) {
  for (const Clock lag : {0, 1, 2})
    for (const int bundles : {1, 2}) {
      const int workers = bundles == 1 ? 3 : 2;
      const Seen seen = explore_all({.workers = workers,
                                     .bundles = bundles,
                                     .consistency = "ssp",
                                     .consistency_options = {.max_lag = lag}});
      EXPECT_LE(seen.lead, lag);
      EXPECT_EQ(seen.lead, lag) << "or the bound is never felt";
      EXPECT_EQ(seen.dropped, 0U);
      EXPECT_GT(seen.executions, 100U);
    }
}

TEST(ServerPolicies, BackupWorkersMakeUpdatesOfExactlyTheRest) {
  for (const int backup : {1, 2})
    for (const int bundles : {1, 2}) {
      const Scene scene{.workers = 3,
                        .bundles = bundles,
                        .steps = bundles == 1 ? 3 : 2,
                        .consistency = "bsp",
                        .consistency_options = {.backup_workers = backup}};
      const Seen seen = explore_all(scene, [&](World& world) {
        Server& server = world.server();
        EXPECT_EQ(server.updates(), static_cast<std::uint64_t>(scene.steps * bundles));
        EXPECT_EQ(server.applied(), server.updates() * static_cast<std::uint64_t>(3 - backup));
        for (std::size_t v = 2; v < world.history().size(); ++v) {
          if (!world.history()[v] || !world.history()[v - 1]) continue;
          auto sum = static_cast<int>(std::lround(*world.history()[v - 1] - *world.history()[v]));
          int pushes = 0;
          for (; sum > 0; sum /= 10) {
            EXPECT_LE(sum % 10, 1) << "a worker is part of an update once";
            pushes += sum % 10;
          }
          EXPECT_EQ(pushes, 3 - backup);
        }
      });
      EXPECT_GT(seen.dropped, 0U);
    }
}

TEST(ServerPolicies, DropLeavesOutWhatIsTooLate) {
  for (const std::int64_t most : {0, 1}) {
    const Scene scene{.workers = 3, .staleness = "drop", .staleness_options = {.max_staleness = most}};
    const Seen seen = explore_all(scene, [&](World& world) {
      EXPECT_EQ(world.server().pushes(), 9U);
      for (int worker = 0; worker < 3; ++worker)
        for (const StalenessCount& one : world.server().staleness(worker, 0)) EXPECT_LE(one.staleness, most);
      for (const Drop& one : world.server().drops()) EXPECT_GT(one.staleness, most);
    });
    EXPECT_GT(seen.dropped, 0U);
  }
}

TEST(ServerPolicies, WhatIsMadeAgainIsAppliedOnce) {
  for (const char* consistency : {"asp", "ssp"}) {
    const Scene scene{.workers = 2,
                      .bundles = 2,
                      .steps = 2,
                      .consistency = consistency,
                      .consistency_options = {.max_lag = 1},
                      .staleness = "drop",
                      .staleness_options = {.max_staleness = 0, .recompute = true}};
    const Seen seen = explore_all(scene, [&](World& world) {
      EXPECT_EQ(world.server().applied(), 8U) << "every step of every worker at every bundle";
      for (int bundle = 0; bundle < 2; ++bundle) EXPECT_EQ(world.server().values(bundle)[0], -22.0F);
    });
    EXPECT_GT(seen.dropped, 0U);
  }
}

TEST(ServerPolicies, ATrainingThatDivergesEndsForEverybody) {
  static constexpr Clock kMany = 50;
  for (const char* consistency : {"asp", "ssp", "bsp"})
    for (const int backup : {0, 1}) {
      if (backup > 0 && std::string_view(consistency) != "bsp") continue;
      // Without backup workers every worker of bsp decides alike, so no stop is ever needed there.
      if (backup == 0 && std::string_view(consistency) == "bsp") continue;
      Scene scene{.workers = 2,
                  .bundles = 2,
                  .steps = kMany,
                  .consistency = consistency,
                  .consistency_options = {.max_lag = 1, .backup_workers = backup},
                  .diverging_worker = 1,
                  .diverges_at = 2};
      for (const bool late : {false, true})
        explore(
            scene, late,
            [](World& world) {
              expect_conserved(world);
              EXPECT_LE(world.after_stop(), 2) << "a reply that was under way said nothing of it";
            },
            20'000);
    }
}

// The reply to a push is the next read, so between two applications of a worker's pushes lie those of all
// others, W - 1 in the mean, in whatever order they come. Only the first pushes see fewer.
TEST(ServerPolicies, MeanStalenessOfAspIsTheNumberOfOtherWorkers) {
  constexpr std::uint64_t kPushes = 6000;
  for (const bool in_turn : {true, false}) {
    World world({.workers = 4, .steps = kPushes});
    for (std::uint64_t i = 0; i < kPushes; ++i) {
      const auto actions = world.actions();  // A push of each worker.
      ASSERT_EQ(actions.size(), 4U);
      actions[(in_turn ? i : random_bits(1, 2, i)) % 4]();
      world.send(0);
    }
    double sum = 0.0;
    for (int worker = 0; worker < 4; ++worker)
      for (const StalenessCount& one : world.server().staleness(worker, 0))
        sum += static_cast<double>(one.staleness) * static_cast<double>(one.count);
    EXPECT_NEAR(sum / kPushes, 3.0, 0.02) << (in_turn ? "in turn" : "at random");
  }
}

}  // namespace
}  // namespace steelyard::ps
