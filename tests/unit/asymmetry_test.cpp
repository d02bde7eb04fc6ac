#include "src/cli/asymmetry.hpp"

#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

Contest ps_against_allreduce() {
  Contest contest;
  contest.contestants.resize(2);
  contest.contestants[0].config.mode = "allreduce";
  contest.contestants[1].config.mode = "ps";
  return contest;
}

mpi::Topology topology(int nodes, int ranks) {
  mpi::Topology topology;
  topology.nodes = nodes;
  for (int rank = 0; rank < ranks; ++rank) topology.node_of_rank.push_back(rank % nodes);
  return topology;
}

TEST(Asymmetry, BothInSharedMemoryHaveNone) {
  EXPECT_TRUE(
      asymmetries(ps_against_allreduce(), {{"in_place", ""}, {"shared", "none"}}, topology(1, 4)).empty());
}

TEST(Asymmetry, OneModeAloneHasNone) {
  Contest contest = ps_against_allreduce();
  contest.contestants[0].config.mode = "ps";
  EXPECT_TRUE(asymmetries(contest, {{"message", "none"}, {"shared", "none"}}, topology(1, 4)).empty());
}

TEST(Asymmetry, EachIsNamedWithItsCure) {
  Contest contest = ps_against_allreduce();
  const auto says = [&](const std::vector<Talk>& talks, const mpi::Topology& where, const std::string& part) {
    for (const std::string& one : asymmetries(contest, talks, where))
      if (one.find(part) != std::string::npos) return true;
    return false;
  };
  EXPECT_TRUE(says({{"in_place", ""}, {"message", "none"}}, topology(1, 4), "--transport shared"));
  EXPECT_TRUE(says({{"", ""}, {"message", "none"}}, topology(4, 4), "--sharded-optimizer"));
  EXPECT_FALSE(says({{"", ""}, {"message", "none"}}, topology(4, 4), "within a node"));
  EXPECT_TRUE(says({{"", ""}, {"mixed", "none"}}, topology(2, 4), "within a node"));
  EXPECT_FALSE(says({{"", ""}, {"mixed", "node"}}, topology(2, 4), "within a node"));
  contest.contestants[0].config.sharded_optimizer = true;
  EXPECT_FALSE(says({{"", ""}, {"message", "none"}}, topology(4, 4), "--sharded-optimizer"));
  contest.contestants[1].config.wire = "fp16";
  EXPECT_TRUE(says({{"", ""}, {"message", "none"}}, topology(4, 4), "--wire fp32"));
  contest.contestants[1].config.consistency = "asp";
  EXPECT_TRUE(says({{"", ""}, {"message", "none"}}, topology(4, 4), "not equal progress"));
}

}  // namespace
}  // namespace steelyard::cli
