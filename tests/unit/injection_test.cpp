#include "modes/injection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "modes/trial.hpp"

namespace steelyard {
namespace {

Injection good(const char* text) {
  auto injection = parse_injection(text);
  EXPECT_TRUE(injection) << injection.error().message;
  return std::move(injection).value();
}

std::string reason(const std::string& text) {
  const auto injection = parse_injection(text);
  EXPECT_FALSE(injection) << text;
  return injection ? "" : injection.error().message;
}

TEST(Injection, SaysInWordsWhatWasGiven) {
  EXPECT_TRUE(good("").empty());
  EXPECT_EQ(good("").words(), "");
  EXPECT_EQ(good("worker=2:compute=2.0").words(), "worker 2 compute x2");
  EXPECT_EQ(good("worker=*:jitter=0.3,server=1:apply=3").words(),
            "every worker jitter 0.3, server 1 apply x3");
  EXPECT_EQ(good("link=3-0:bandwidth=0.25").words(), "link 0-3 bandwidth x0.25");
  EXPECT_EQ(good("server=*:apply=1e2").text(), "server=*:apply=1e2");
}

TEST(Injection, RefusesWhatItDoesNotUnderstandAndSaysWhatIsAllowed) {
  for (const char* text : {"worker", "worker=1", "worker=1:speed=2", "node=1:compute=2", "server=0:compute=2",
                           "worker=0:apply=2", ",", "worker=0:compute=2,", "link=0-1:latency=2", "compute=2"})
    EXPECT_NE(reason(text).find("must be worker=N:compute=FACTOR"), std::string::npos) << text;
  for (const char* text : {"worker=:compute=2", "worker=-1:compute=2", "worker=a:compute=2",
                           "worker=1.5:jitter=2", "worker=99999999999:compute=2"})
    EXPECT_NE(reason(text).find("the number of a worker, from 0, or *"), std::string::npos) << text;
  for (const char* text : {"link=1:bandwidth=0.5", "link=*:bandwidth=0.5", "link=1-1:bandwidth=0.5",
                           "link=0--1:bandwidth=0.5", "link=0-1-2:bandwidth=0.5"})
    EXPECT_NE(reason(text).find("two different ranks such as 0-1"), std::string::npos) << text;
  EXPECT_NE(reason(std::string(300, 'x')).find("at most 255"), std::string::npos);
}

TEST(Injection, RefusesNumbersThatAreOutOfRange) {
  const auto expect = [](const char* text, const char* range) {
    EXPECT_NE(reason(text).find(range), std::string::npos) << reason(text);
    EXPECT_EQ(reason(text).find("--slow '" + std::string(text)), 0U) << reason(text);
  };
  for (const char* text : {"worker=0:compute=0.5", "worker=0:compute=1001", "worker=0:compute=nan",
                           "worker=0:compute=", "worker=0:compute=2x", "worker=0:compute=inf"})
    expect(text, "compute must be a number from 1 to 1000");
  for (const char* text : {"server=0:apply=0", "server=0:apply=-2"})
    expect(text, "apply must be a number from 1 to 1000");
  for (const char* text : {"worker=*:jitter=-0.1", "worker=*:jitter=11"})
    expect(text, "jitter must be a number from 0 to 10");
  for (const char* text : {"link=0-1:bandwidth=0", "link=0-1:bandwidth=1.5"})
    expect(text, "bandwidth must be a number from 0.001 to 1");
}

TEST(Injection, ItemsAddUpTheirDelays) {
  const Injection injection = good(
      "worker=*:compute=1.5,worker=1:compute=3,server=*:apply=2,server=0:apply=4,"
      "link=0-1:bandwidth=0.5,link=1-0:bandwidth=0.25");
  EXPECT_DOUBLE_EQ(injection.compute_factor(0, 0, 7), 1.5);
  EXPECT_DOUBLE_EQ(injection.compute_factor(1, 0, 7), 3.5);
  EXPECT_DOUBLE_EQ(injection.apply_factor(0), 5.0);
  EXPECT_DOUBLE_EQ(injection.apply_factor(1), 2.0);
  EXPECT_DOUBLE_EQ(injection.bandwidth(0, 1), 0.2);
  EXPECT_DOUBLE_EQ(injection.bandwidth(1, 0), 0.2);
  EXPECT_DOUBLE_EQ(injection.bandwidth(0, 2), 1.0);
}

TEST(Injection, SlowsNobodyElse) {
  const Injection injection = good("worker=2:compute=2,worker=4:jitter=1,server=0:apply=2");
  for (int worker = 0; worker < 6; ++worker)
    EXPECT_EQ(injection.slows_worker(worker), worker == 2 || worker == 4) << worker;
  EXPECT_DOUBLE_EQ(injection.compute_factor(0, 5, 7), 1.0);
  EXPECT_DOUBLE_EQ(injection.apply_factor(1), 1.0);
}

std::vector<double> factors(const Injection& injection, int worker, std::uint64_t seed, Step steps) {
  std::vector<double> all;
  for (Step step = 0; step < steps; ++step) all.push_back(injection.compute_factor(worker, step, seed));
  return all;
}

// max(1, exp(sigma z)): half of the steps are not slowed, P(z > 1) = 15.87 % by more than exp(sigma), and the
// mean is 1/2 + exp(sigma^2 / 2) Phi(sigma). Tolerances are five standard errors of 100,000 steps.
TEST(Injection, JitterHasTheDistributionThatItIsSaidToHave) {
  constexpr double kSigma = 0.3;
  constexpr Step kSteps = 100'000;
  const auto all = factors(good("worker=0:jitter=0.3"), 0, 11, kSteps);
  const auto share = [&](auto&& holds) {
    return static_cast<double>(std::ranges::count_if(all, holds)) / static_cast<double>(kSteps);
  };
  EXPECT_NEAR(share([](double f) { return f == 1.0; }), 0.5, 0.008);
  EXPECT_NEAR(share([](double f) { return f > std::exp(kSigma); }), 0.1587, 0.006);
  double mean = 0.0;
  for (const double factor : all) mean += factor / static_cast<double>(kSteps);
  const double phi = 0.5 * std::erfc(-kSigma / std::sqrt(2.0));
  EXPECT_NEAR(mean, 0.5 + std::exp(kSigma * kSigma / 2.0) * phi, 0.004);
}

TEST(Injection, JitterIsTheSameInARerunAndDiffersBetweenWorkersSeedsAndItems) {
  const Injection injection = good("worker=*:jitter=0.5");
  const auto first = factors(injection, 1, 3, 100);
  EXPECT_EQ(first, factors(injection, 1, 3, 100));
  EXPECT_NE(first, factors(injection, 2, 3, 100));
  EXPECT_NE(first, factors(injection, 1, 4, 100));
  const auto twice = factors(good("worker=*:jitter=0.5,worker=1:jitter=0.5"), 1, 3, 100);
  int doubled = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_GE(twice[i], first[i]);
    doubled += twice[i] > first[i] && first[i] == 1.0 ? 1 : 0;
  }
  EXPECT_GT(doubled, 0) << "each item has chances of its own";
}

TEST(Injection, NoStepTakesLongerThanTheMost) {
  for (const double factor : factors(good("worker=0:jitter=10"), 0, 1, 1000)) {
    EXPECT_GE(factor, 1.0);
    EXPECT_LE(factor, Injection::kMostFactor);
  }
}

/// What is wrong with `slow` on 5 ranks of two nodes, ranks 0 and 1 serving in ps; "" if nothing is.
std::string refusal(const char* slow, const char* mode, const char* transport_or_collective) {
  TrialConfig config;
  config.mode = mode;
  config.transport = transport_or_collective;
  config.collective = transport_or_collective;
  config.injection = good(slow);
  mpi::Topology topology;
  topology.nodes = 2;
  topology.node_of_rank = {0, 0, 0, 1, 1};
  const bool ps = config.mode == "ps";
  const Roles roles{ps ? std::vector<Rank>{0, 1} : std::vector<Rank>{},
                    {2, 3, 4},
                    ps ? std::vector<Rank>{} : std::vector<Rank>{0, 1}};
  const Status status = check_injection(config, roles, topology);
  return status ? "" : status.error().message;
}

TEST(Injection, AsksForWorkersAndServersThatThereAre) {
  EXPECT_EQ(refusal("worker=2:compute=2,server=1:apply=2,worker=*:jitter=1,server=*:apply=2", "ps", "auto"),
            "");
  EXPECT_NE(refusal("worker=3:compute=2", "ps", "auto").find("no worker 3 in this trial: they are 0 to 2"),
            std::string::npos);
  EXPECT_NE(refusal("server=2:apply=2", "ps", "auto").find("no server 2 in this trial: they are 0 to 1"),
            std::string::npos);
  for (const char* slow : {"server=0:apply=2", "server=*:apply=2"})
    EXPECT_NE(refusal(slow, "allreduce", "auto").find("an allreduce has no servers"), std::string::npos);
}

TEST(Injection, AsksForLinksThatCanBeSlowed) {
  EXPECT_EQ(refusal("link=0-2:bandwidth=0.5", "ps", "message"), "");
  EXPECT_EQ(refusal("link=0-3:bandwidth=0.5", "ps", "auto"), "") << "on two nodes";
  EXPECT_NE(refusal("link=0-2:bandwidth=0.5", "ps", "auto").find("say --transport message"),
            std::string::npos);
  EXPECT_NE(refusal("link=0-1:bandwidth=0.5", "ps", "message").find("are both servers"), std::string::npos);
  EXPECT_NE(refusal("link=2-3:bandwidth=0.5", "ps", "message").find("are both workers"), std::string::npos);
  EXPECT_NE(refusal("link=2-5:bandwidth=0.5", "ps", "message").find("no rank 5"), std::string::npos);
  EXPECT_EQ(refusal("link=2-3:bandwidth=0.5", "allreduce", "ring"), "");
  EXPECT_NE(refusal("link=0-3:bandwidth=0.5", "allreduce", "ring").find("work in this trial"),
            std::string::npos);
  for (const char* collective : {"mpi", "shared", "auto"})
    EXPECT_NE(
        refusal("link=2-3:bandwidth=0.5", "allreduce", collective).find("--collective ring or recursive"),
        std::string::npos);
  // Of three ranks the first gives its data to the second and takes no part in the rounds.
  EXPECT_EQ(refusal("link=3-4:bandwidth=0.5", "allreduce", "recursive"), "");
  EXPECT_NE(refusal("link=2-4:bandwidth=0.5", "allreduce", "recursive").find("send each other nothing"),
            std::string::npos);
}

}  // namespace
}  // namespace steelyard
