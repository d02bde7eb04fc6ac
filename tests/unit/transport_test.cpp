#include "modes/ps/transport.hpp"

#include <gtest/gtest.h>

#include "modes/ps/node_memory.hpp"

namespace steelyard::ps {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 30U;

/// Two servers on node 0, a worker beside them, three on node 1, one on node 2.
constexpr int kNodeOfRank[] = {0, 0, 0, 1, 1, 1, 2};

class Transports : public testing::Test {
 protected:
  Transports() {
    topology_.nodes = 3;
    topology_.node_of_rank.assign(std::begin(kNodeOfRank), std::end(kNodeOfRank));
    topology_.shared_memory_of_node.assign(3, kPlenty);
    const Inventory inventory = {
        {"a", {100}, 0.0F}, {"b", {100}, 0.0F}, {"c", {100}, 0.0F}, {"d", {7}, 0.0F}};
    plan_ = make_plan(inventory, {{0, 0, 100, 0}, {1, 0, 100, 1}, {2, 0, 100, 0}, {3, 0, 7, 1}}, 2, 4);
    config_.servers = 2;
  }

  Expected<Transport> choose(bool all_together = true) const {
    return choose_transport(config_, plan_, roles_, topology_, all_together);
  }
  /// Workers of each source of a server.
  std::vector<std::vector<int>> sources(int server) const {
    std::vector<std::vector<int>> all;
    for (const Source& one : sources_of(choose().value(), roles_, topology_, server))
      all.push_back(one.workers);
    return all;
  }
  std::string error(bool all_together = true) const { return choose(all_together).error().message; }

  TrialConfig config_;
  Roles roles_{{0, 1}, {2, 3, 4, 5, 6}, {}};
  mpi::Topology topology_;
  Plan plan_;
};

TEST_F(Transports, WorkersOfANodeWithoutTheServerPushAsOne) {
  const Transport transport = choose().value();
  EXPECT_EQ(transport.name, "mixed");
  EXPECT_EQ(transport.aggregate, "node");
  EXPECT_TRUE(transport.nodes[0].shared && transport.nodes[0].in_place && !transport.nodes[0].sums);
  EXPECT_TRUE(transport.nodes[1].shared && transport.nodes[1].in_place && transport.nodes[1].sums);
  EXPECT_FALSE(transport.nodes[2].shared || transport.nodes[2].sums) << "one worker alone";
  for (const int server : {0, 1})
    EXPECT_EQ(sources(server), (std::vector<std::vector<int>>{{0}, {1, 2, 3}, {4}}));
}

TEST_F(Transports, WorkersBesideAServerArePushingAloneToIt) {
  roles_ = {{0, 3}, {1, 2, 4, 5, 6}, {}};
  EXPECT_EQ(sources(0), (std::vector<std::vector<int>>{{0}, {1}, {2, 3}, {4}}));
  EXPECT_EQ(sources(1), (std::vector<std::vector<int>>{{0, 1}, {2}, {3}, {4}}));
}

TEST_F(Transports, BundlesAreSharedOutAmongTheWorkersOfANode) {
  const Source node{{1, 2, 3}};
  EXPECT_EQ(node.agent(0), 1);
  EXPECT_EQ(node.agent(4), 2);
  EXPECT_EQ(node.agent(5), 3);
}

TEST_F(Transports, SumsInWorkerOrderAndUpdatesOfOnePushAreNotByNode) {
  config_.deterministic = true;
  EXPECT_EQ(choose().value().aggregate, "none");
  config_.aggregate = "node";
  EXPECT_EQ(choose().value().aggregate, "node");
  config_ = {};
  EXPECT_EQ(choose(false).value().aggregate, "none");
  config_.aggregate = "none";
  EXPECT_EQ(sources(0).size(), 5U);
}

TEST_F(Transports, WhatCannotBeIsRefused) {
  config_.aggregate = "rack";
  EXPECT_EQ(error(), "--aggregate 'rack': choose one of: auto, none, node");
  config_.aggregate = "node";
  EXPECT_NE(error(false).find("every push is an update of its own"), std::string::npos);
  config_.transport = "message";
  EXPECT_NE(error().find("workers sum in memory that they share"), std::string::npos);
  config_.transport = "auto";
  topology_.shared_memory_of_node[1] = mpi::kSharedMemoryMargin;
  EXPECT_NE(error().find("/dev/shm of node 1 has"), std::string::npos);
  config_.aggregate = "auto";
  EXPECT_EQ(choose().value().aggregate, "none");
  EXPECT_NE(choose().value().note, "");
}

}  // namespace
}  // namespace steelyard::ps
