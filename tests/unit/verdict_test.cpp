#include "src/cli/verdict.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace steelyard::cli {
namespace {

Ratio ratio(const char* a, std::vector<double> rounds, const char* basis = "ranks") {
  return {a, "allreduce", basis, 1, 0, std::move(rounds), {}, 0.95, false};
}

std::vector<double> around(double centre, int rounds) {
  std::vector<double> x;
  for (int i = 0; i < rounds; ++i) x.push_back(centre * (1.0 + 0.01 * (i % 3 - 1)));
  return x;
}

std::string say(std::vector<Ratio> ratios, const std::vector<double>& confirmation,
                Validity validity = {.one_node = true}) {
  judge(ratios);
  return verdict(ratios, candidate(ratios), confirmation, validity);
}

TEST(Verdict, NoneBelowSixRounds) {
  EXPECT_NE(
      say({ratio("ps", around(2.0, 5))}, around(2.0, 9)).find("No verdict: 5 rounds were run and at least 6"),
      std::string::npos);
}

TEST(Verdict, NoneWhereTheCorrectionCannotBeMet) {
  const auto text = say({ratio("ps 1", around(2.0, 6)), ratio("ps 2", around(2.0, 6))}, around(2.0, 9));
  EXPECT_NE(text.find("with 2 ratios at least 7 rounds are needed, and 6 were run"), std::string::npos)
      << text;
}

TEST(Verdict, NamesAWinnerOnlyWhenFreshRoundsConfirmIt) {
  const auto good = say({ratio("ps", around(1.3, 9))}, around(1.2, 9));
  EXPECT_NE(good.find("On this machine ps is faster than allreduce"), std::string::npos) << good;
  const auto lost = say({ratio("ps", around(1.3, 9))}, around(1.0, 9));
  EXPECT_NE(lost.find("No winner can be named: ps looked faster"), std::string::npos) << lost;
  const auto unconfirmed = say({ratio("ps", around(1.3, 9))}, {});
  EXPECT_NE(unconfirmed.find("no fresh rounds"), std::string::npos) << unconfirmed;
}

TEST(Verdict, AllreduceWinsOnlyAgainstEveryPs) {
  const auto won = say({ratio("ps 1", around(0.5, 10)), ratio("ps 2", around(0.8, 10))}, around(0.8, 9));
  EXPECT_NE(won.find("On this machine allreduce is faster than ps 2"), std::string::npos) << won;
  const auto open = say({ratio("ps 1", around(0.5, 10)), ratio("ps 2", around(1.0, 10))}, {});
  EXPECT_NE(open.find("No winner can be named: ps 1 is slower than allreduce"), std::string::npos) << open;
  EXPECT_NE(open.find("ps 2 cannot be told from allreduce"), std::string::npos) << open;
}

TEST(Verdict, NeverClaimsAWinnerWhoseIntervalIncludesOne) {
  std::vector<double> mixed = around(1.3, 9);
  mixed[0] = mixed[1] = 0.9;
  const auto text = say({ratio("ps", mixed)}, around(1.3, 9));
  EXPECT_EQ(text.find("On this machine"), std::string::npos) << text;
}

TEST(Verdict, SaysWhereItHoldsAndWhatItCannotTell) {
  const auto said = [](const Validity& validity) {
    return say({ratio("ps", around(1.3, 9))}, around(1.3, 9), validity);
  };
  const std::string lab = said({.emulated_compute = true, .shaped_links = true, .nodes = 8});
  EXPECT_TRUE(lab.starts_with("On the emulated links and with emulated compute ps is faster")) << lab;
  EXPECT_NE(lab.find(" This cannot tell what switches"), std::string::npos) << lab;
  const std::string crowded = said({.oversubscribed = true, .one_node = true});
  EXPECT_TRUE(crowded.starts_with("On this machine ps is faster")) << crowded;
  EXPECT_NE(crowded.find("This cannot tell what a busy server costs on cores of its own"), std::string::npos);
  const std::string cluster = said({.nodes = 4});
  EXPECT_TRUE(cluster.starts_with("On these 4 nodes ps is faster")) << cluster;
  EXPECT_EQ(cluster.find("cannot tell"), std::string::npos) << cluster;
}

Ratio unlike(Ratio one) {
  one.unlike = true;
  return one;
}

TEST(Verdict, ImagesPerSecondDecideNothingBetweenUnlikeContestants) {
  const auto alone = say({unlike(ratio("asp", around(2.0, 9)))}, around(2.0, 9));
  EXPECT_TRUE(alone.starts_with("No verdict: images/s alone cannot decide")) << alone;
  EXPECT_NE(alone.find("asp / allreduce 2.000"), std::string::npos) << alone;
  EXPECT_NE(alone.find("--target-accuracy"), std::string::npos) << alone;
  std::vector<Ratio> ratios = {ratio("bsp", around(1.3, 11)), unlike(ratio("asp", around(2.0, 11)))};
  const auto beside = say(ratios, around(1.3, 9));
  EXPECT_NE(beside.find("On this machine bsp is faster than allreduce"), std::string::npos) << beside;
  EXPECT_NE(beside.find("But images/s alone cannot decide"), std::string::npos) << beside;
  EXPECT_EQ(beside.find("asp is faster"), std::string::npos) << beside;
}

Ratio timed(const char* a, std::vector<double> rounds) {
  Ratio one = ratio(a, std::move(rounds));
  one.measure = Measure::time_to_target;
  return one;
}

TEST(Verdict, TimesToATargetHaveWordsOfTheirOwn) {
  const auto won = say({timed("asp", around(1.3, 9))}, around(1.2, 9));
  EXPECT_NE(won.find("On this machine asp reaches the target sooner than allreduce"), std::string::npos)
      << won;
  EXPECT_EQ(won.find("faster"), std::string::npos) << won;
  const auto few = say({timed("asp", around(1.3, 5))}, {});
  EXPECT_NE(few.find("reached the target in 5 rounds and 6 are needed"), std::string::npos) << few;
}

TEST(Verdict, WhoAloneReachesTheTargetIsAhead) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto won = say({timed("asp", std::vector(9, kInfinity))}, std::vector(9, kInfinity));
  EXPECT_NE(won.find("asp reaches the target sooner"), std::string::npos) << won;
  EXPECT_NE(won.find("only one of the two reached"), std::string::npos) << won;
  const auto lost = say({timed("asp", std::vector(9, 0.0))}, std::vector(9, 0.0));
  EXPECT_NE(lost.find("allreduce reaches the target sooner than asp"), std::string::npos) << lost;
}

TEST(Verdict, ARatioWithoutRoundsLeavesTheOthersTheirVerdict) {
  const auto won = say({timed("never", {}), timed("asp", around(1.3, 11))}, around(1.2, 9));
  EXPECT_NE(won.find("asp reaches the target sooner than allreduce"), std::string::npos) << won;
}

TEST(Validity, NamesWhatHoldsInOneOrder) {
  EXPECT_EQ(Validity{}.text(), "");
  EXPECT_EQ((Validity{true, true, true, true, true, true, 1}).text(),
            "oversubscribed,one_node,emulated_compute,shaped_links,injected,fake");
}

TEST(Verdict, EqualWorkersAreAFamilyOfTheirOwn) {
  std::vector<Ratio> ratios = {ratio("ps 1", around(1.3, 9)), ratio("ps 1", around(1.1, 9), "workers")};
  judge(ratios);
  EXPECT_DOUBLE_EQ(ratios[0].confidence, 0.95);
  EXPECT_DOUBLE_EQ(ratios[1].confidence, 0.95);
  EXPECT_NE(say(ratios, around(1.3, 9)).find("At the same number of workers: ps 1 measured faster"),
            std::string::npos);
}

TEST(Verdict, PricesAndNodesAreSaidAsMeasured) {
  const auto text = say({ratio("ps 1", around(1.3, 9)), ratio("ps 1", around(0.7, 9), "price"),
                         ratio("ps 1", around(1.4, 9), "nodes")},
                        around(1.3, 9));
  EXPECT_NE(text.find(" Per node: ps 1 measured faster than allreduce, 1.400"), std::string::npos) << text;
  EXPECT_NE(text.find(" For the same price: ps 1 measured slower than allreduce, 0.700"), std::string::npos)
      << text;
}

TEST(Verdict, RoundsForAFamilyForgiveOneOutlier) {
  EXPECT_EQ(rounds_for(1), 9);
  EXPECT_EQ(rounds_for(2), 10);
  std::vector<Ratio> ratios = {ratio("ps 1", around(1.3, 10)), ratio("ps 2", around(1.3, 10))};
  ratios[0].rounds[4] = 0.5;
  judge(ratios);
  EXPECT_TRUE(ratios[0].differs && ratios[1].differs);
}

TEST(Verdict, EqualContestantsWinByChanceInFewerThanFivePercent) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1.0, 0.1);
  int winners = 0;
  constexpr int kComparisons = 2000;
  for (int i = 0; i < kComparisons; ++i) {
    std::vector<Ratio> ratios;
    for (const char* name : {"a", "b", "c"}) {
      std::vector<double> rounds(static_cast<std::size_t>(rounds_for(3)));
      for (double& one : rounds) one = noise(random);
      ratios.push_back(ratio(name, rounds));
    }
    std::vector<double> fresh(9);
    for (double& one : fresh) one = noise(random);
    judge(ratios);
    winners += has_winner(ratios, candidate(ratios), fresh) ? 1 : 0;
  }
  EXPECT_LE(winners, static_cast<int>(0.05 * kComparisons));
}

}  // namespace
}  // namespace steelyard::cli
