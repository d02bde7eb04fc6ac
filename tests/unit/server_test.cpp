// The server without MPI: every interleaving of 2 workers x 2 bundles x 3 steps, with replies that leave at
// once or late.
#include "modes/ps/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "tests/support/server_memory.hpp"

namespace steelyard::ps {
namespace {

constexpr int kWorkers = 2;
constexpr int kBundles = 2;
constexpr Clock kSteps = 3;
constexpr std::array<BundleId, kBundles> kIds = {4, 9};
constexpr std::array<std::size_t, kBundles> kElements = {1, 2};

/// One execution of the server, driven by a sequence of choices. Gradients tell workers and steps apart:
/// worker w pushes 10^w in every step, so the values show which pushes were applied.
class World {
 public:
  World(const char* consistency, bool in_worker_order)
      : consistency_(make_consistency(consistency).value()),
        optimizer_(make_optimizer("sgd", {1.0F, 0.0F}).value()),
        copies_(consistency_->pushes_per_update(kWorkers) == kWorkers ? 1 : 2),
        memory_(kElements, kWorkers, copies_),
        server_({kWorkers, 0, copies_, in_worker_order}, {*optimizer_, *consistency_, kept()}, kIds,
                memory_.views()) {}

  /// A worker may push a bundle when it has the reply to its push before.
  bool can_push(int worker, int bundle) const {
    const auto& c = conversation(worker, bundle);
    return !c.waiting && c.clock < kSteps;
  }

  void push(int worker, int bundle) {
    auto& c = conversation(worker, bundle);
    const Header header = push_header(kIds[static_cast<std::size_t>(bundle)], worker, ++c.clock, c.version);
    std::ranges::fill(memory_.gradient(worker, bundle), worker == 0 ? 1.0F : 10.0F);
    c.waiting = true;
    server_.receive(worker, bundle, header, ++now_);
    take_replies();
  }

  /// A reply that is on its way leaves its outbox.
  bool can_send() const { return !on_the_way_.empty(); }
  void send(std::size_t which) {
    const Reply reply = on_the_way_[which];
    auto& c = conversation(reply.worker, reply.bundle);
    EXPECT_GT(reply.version, c.version) << "a reply is never older than the one before";
    // Not torn, not overwritten while under way: the values are those of the version that was promised.
    const float when_made = values_seen_[{reply.worker, reply.bundle}];
    EXPECT_EQ(when_made, memory_.value(reply));
    c.version = reply.version;
    c.waiting = false;
    on_the_way_.erase(on_the_way_.begin() + static_cast<std::ptrdiff_t>(which));
    server_.sent(reply, ++now_);
    take_replies();
  }
  std::size_t on_the_way() const { return on_the_way_.size(); }

  bool finished() const {
    for (const auto& c : conversations_)
      if (c.clock < kSteps || c.waiting) return false;
    return true;
  }
  Clock lag() const {
    Clock greatest = 0;
    for (int bundle = 0; bundle < kBundles; ++bundle)
      greatest = std::max(greatest, std::abs(server_.clock(0, bundle) - server_.clock(1, bundle)));
    return greatest;
  }
  Server& server() { return server_; }

 private:
  struct Conversation {
    Clock clock = 0;
    std::int64_t version = 0;
    bool waiting = false;
  };
  Conversation& conversation(int worker, int bundle) {
    return conversations_[static_cast<std::size_t>(worker * kBundles + bundle)];
  }
  const Conversation& conversation(int worker, int bundle) const {
    return conversations_[static_cast<std::size_t>(worker * kBundles + bundle)];
  }
  void take_replies() {
    for (const Reply& reply : server_.due()) {
      values_seen_[{reply.worker, reply.bundle}] = memory_.value(reply);
      on_the_way_.push_back(reply);
    }
    server_.due().clear();
  }

  std::unique_ptr<Consistency> consistency_;
  std::unique_ptr<Optimizer> optimizer_;
  int copies_;
  Memory memory_;
  Server server_;
  std::array<Conversation, kWorkers * kBundles> conversations_{};
  std::vector<Reply> on_the_way_;
  std::map<std::pair<int, int>, float> values_seen_;
  std::int64_t now_ = 0;
};

/// What every execution must satisfy when it is over.
void expect_finished_well(World& world, const char* consistency) {
  Server& server = world.server();
  const std::uint64_t pushes = kWorkers * kBundles * kSteps;
  EXPECT_EQ(server.pushes(), pushes);
  EXPECT_EQ(server.applied(), pushes) << "every push is applied exactly once";
  EXPECT_EQ(server.waiting(), 0);
  const bool bsp = std::string_view(consistency) == "bsp";
  EXPECT_EQ(server.updates(), bsp ? pushes / kWorkers : pushes);
  for (int bundle = 0; bundle < kBundles; ++bundle)
    for (const float value : server.values(bundle))
      EXPECT_EQ(value, -11.0F * kSteps) << "each worker's pushes, once";
  std::uint64_t counted = 0;
  for (int worker = 0; worker < kWorkers; ++worker)
    for (int bundle = 0; bundle < kBundles; ++bundle)
      for (const StalenessCount& one : server.staleness(worker, bundle)) {
        EXPECT_GE(one.staleness, 0);
        EXPECT_TRUE(!bsp || one.staleness == 0) << "bulk synchronous gradients are never stale";
        counted += one.count;
      }
  EXPECT_EQ(counted, pushes);
}

/// What can happen next: a push of any worker that may, or a reply leaving.
std::vector<std::function<void()>> possible_actions(World& world) {
  std::vector<std::function<void()>> actions;
  for (int worker = 0; worker < kWorkers; ++worker)
    for (int bundle = 0; bundle < kBundles; ++bundle)
      if (world.can_push(worker, bundle))
        actions.push_back([&world, worker, bundle] { world.push(worker, bundle); });
  for (std::size_t reply = 0; reply < world.on_the_way(); ++reply)
    actions.push_back([&world, reply] { world.send(reply); });
  return actions;
}

enum class Replies { at_once, at_any_moment };

/// Runs one execution: takes `choices` as far as they go, then always the first action. @return how many
/// actions there were to choose from at each point, and the greatest lag.
std::pair<std::vector<std::size_t>, Clock> play(World& world, Replies replies,
                                                std::vector<std::size_t>& choices) {
  std::vector<std::size_t> widths;
  Clock lag = 0;
  while (!world.finished() && !testing::Test::HasFailure()) {
    const auto actions = possible_actions(world);
    if (actions.empty()) {
      ADD_FAILURE() << "nobody can act and nobody has finished: a deadlock";
      break;
    }
    if (widths.size() == choices.size()) choices.push_back(0);
    const std::size_t choice = choices[widths.size()];
    widths.push_back(actions.size());
    actions[choice]();
    while (replies == Replies::at_once && world.on_the_way() > 0) world.send(0);
    lag = std::max(lag, world.lag());
  }
  return {widths, lag};
}

struct Explored {
  std::size_t executions = 0;
  Clock greatest_lag = 0;
};

/// All executions, depth first, at most `most` of them.
Explored explore(const char* consistency, bool in_worker_order, Replies replies,
                 std::size_t most = 1U << 30U) {
  Explored explored;
  std::vector<std::size_t> choices;
  do {
    World world(consistency, in_worker_order);
    const auto [widths, lag] = play(world, replies, choices);
    explored.greatest_lag = std::max(explored.greatest_lag, lag);
    expect_finished_well(world, consistency);
    if (testing::Test::HasFailure() || ++explored.executions == most) return explored;
    while (!choices.empty() && choices.back() + 1 == widths[choices.size() - 1]) choices.pop_back();
    if (!choices.empty()) ++choices.back();
  } while (!choices.empty());
  return explored;
}

TEST(Server, BspOverEveryInterleavingOfPushes) {
  for (const bool in_worker_order : {false, true}) {
    const Explored explored = explore("bsp", in_worker_order, Replies::at_once);
    // Per bundle and step either worker comes first: 2^3 histories; two bundles interleave 6 over 6 pushes in
    // C(12, 6) ways: 64 x 924.
    EXPECT_EQ(explored.executions, 64U * 924U);
    EXPECT_EQ(explored.greatest_lag, 1);
  }
}

TEST(Server, AspOverEveryInterleavingOfPushes) {
  const Explored explored = explore("asp", false, Replies::at_once);
  // Any order of 4 independent sequences of 3 pushes: 12! / (3!)^4.
  EXPECT_EQ(explored.executions, 369'600U);
  EXPECT_EQ(explored.greatest_lag, kSteps);
}

TEST(Server, RepliesThatLeaveLateAreNeverOverwritten) {
  // Replies may leave at any later moment. All orders are too many; the first 200,000 depth first are not.
  constexpr std::size_t kMost = 200'000;
  EXPECT_EQ(explore("bsp", false, Replies::at_any_moment, kMost).executions, kMost);
  EXPECT_EQ(explore("bsp", true, Replies::at_any_moment, kMost).executions, kMost);
  EXPECT_EQ(explore("asp", false, Replies::at_any_moment, kMost).executions, kMost);
}

TEST(Server, RepliesRotate) {
  const auto consistency = make_consistency("bsp").value();
  const auto optimizer = make_optimizer("sgd", {}).value();
  constexpr int kMany = 4;
  const Memory memory(std::array<std::size_t, 1>{1}, kMany, 1);
  Server server({kMany, 2, 1, false}, {*optimizer, *consistency, kept()}, std::array<BundleId, 1>{0},
                memory.views());
  for (int worker = 0; worker < kMany; ++worker) server.receive(worker, 0, push_header(0, worker, 1, 0), 1);
  std::vector<int> order;
  for (const Reply& reply : server.due()) order.push_back(reply.worker);
  EXPECT_EQ(order, (std::vector<int>{2, 3, 0, 1}));
}

}  // namespace
}  // namespace steelyard::ps
