// Which ratios a verdict follows from, and what is left of them when contestants are gone.
#include "src/cli/contest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/cli/comparison.hpp"

namespace steelyard::cli {
namespace {

/// The contest of `options` on four ranks.
Contest contest(std::vector<const char*> options) {
  options.insert(options.begin(), {"steelyard", "compare", "--steps", "10", "--model", "mlp:50-20-10"});
  const auto parsed = parse_command_line(static_cast<int>(options.size()), options.data(), nullptr);
  mpi::Topology topology;
  topology.node_of_rank = {0, 0, 0, 0};
  topology.host_of_rank = {"", "", "", ""};
  topology.shared_memory_of_node = {std::size_t{1} << 30U};
  return make_contest(parsed.value().options, describe_model("mlp:50-20-10").value(), 2048, topology).value();
}

std::string pairs(const std::vector<Ratio>& ratios) {
  std::string text;
  for (const Ratio& one : ratios) text += one.a + " / " + one.b + " by " + one.basis + "; ";
  return text;
}

constexpr const char* kAsp = "servers=1 consistency=asp";
constexpr const char* kBsp = "servers=1";

TEST(Contest, IsByTimeToTheTargetWhereWorkersReadUnlikeValues) {
  const auto made = [](const char* second, bool target) {
    std::vector<const char*> options = {"--trial", "mode=allreduce",   "--trial",
                                        second,    "--evaluate-every", "5"};
    if (target) options.insert(options.end(), {"--target-accuracy", "0.5"});
    return contest(std::move(options));
  };
  const auto measure = [&](const char* second, bool target) {
    return decisive_ratios(made(second, target)).front().measure;
  };
  EXPECT_EQ(measure(kBsp, false), Measure::speed);
  EXPECT_EQ(measure(kBsp, true), Measure::speed) << "a step of one is worth a step of the other";
  EXPECT_EQ(measure(kAsp, true), Measure::time_to_target);
  EXPECT_EQ(measure(kAsp, false), Measure::speed);
  EXPECT_TRUE(made(kAsp, false).ratios.front().unlike);
  EXPECT_FALSE(made(kBsp, false).ratios.front().unlike);
  EXPECT_EQ(made(kBsp, true).target_ratios.size(), 1U);
  EXPECT_TRUE(made(kBsp, false).target_ratios.empty());
}

TEST(Contest, GoesOnAmongThoseWhoAreLeft) {
  Contest three = contest({"--trial", "mode=allreduce", "--trial", kBsp, "--trial", kBsp});
  EXPECT_EQ(pairs(three.ratios),
            "B: ps 1+3 / A: allreduce 4 by ranks; C: ps 1+3 / A: allreduce 4 by ranks; ");
  Contest without_last = three;
  leave_out(without_last, {false, false, true});
  EXPECT_EQ(pairs(without_last.ratios), "B: ps 1+3 / A: allreduce 4 by ranks; ");
  leave_out(three, {true, false, false});
  EXPECT_EQ(pairs(three.ratios), "C: ps 1+3 / B: ps 1+3 by ranks; ");
  leave_out(three, {true, true, false});
  EXPECT_TRUE(three.ratios.empty());
}

TEST(Contest, TheUsualOneKeepsWhatNeedsNobodyWhoIsGone) {
  Contest usual = contest({"--servers", "1,2"});
  leave_out(usual, {true, false, false, false, false});
  EXPECT_EQ(pairs(usual.ratios),
            "ps 1+3 / allreduce 3 of 4 by workers; ps 2+2 / ps 1+3 by ranks; ps 2+2 / allreduce 2 of 4 by "
            "workers; ");
}

TEST(Contest, ImagesPerSecondDoNotDecideWhereAStepIsNotWorthAStep) {
  const auto difference = [](const char* second) {
    return contest({"--trial", "mode=allreduce", "--trial", second}).ratios.front().difference;
  };
  EXPECT_EQ(difference("mode=allreduce wire=fp16"), "");
  EXPECT_EQ(difference("mode=allreduce batch=32"), "the global batch");
  EXPECT_EQ(difference("mode=allreduce lr=0.5"), "the optimizer or its rate");
  EXPECT_EQ(difference("mode=allreduce optimizer=adam"), "the optimizer or its rate");
  EXPECT_EQ(difference("servers=1 backup-workers=1"), "the age of the values that workers read");
  EXPECT_EQ(difference("servers=1 consistency=asp lr-scale=workers"),
            "the age of the values that workers read")
      << "a rate divided by the workers is the rate that was asked for";
  EXPECT_EQ(difference("servers=1 consistency=asp batch=32"),
            "the age of the values that workers read and the global batch");
}

TEST(Contest, OnlyServersDivideTheRateByTheWorkers) {
  const Contest mixed =
      contest({"--servers", "1", "--consistency", "asp", "--lr-scale", "workers", "--lr", "0.6"});
  for (const Contestant& one : mixed.contestants)
    EXPECT_FLOAT_EQ(one.config.optimizer_options.rate, one.config.mode == "ps" ? 0.2F : 0.6F) << one.label;
}

TEST(Contest, WeakScalingDecidesOnlyAmongThoseThatLearnNothing) {
  const Contest weak = contest({"--servers", "1", "--batch-per-worker", "8"});
  EXPECT_EQ(pairs(weak.ratios), "ps 1+3 / allreduce 4 by ranks; ps 1+3 / allreduce 3 of 4 by workers; ");
  EXPECT_EQ(weak.ratios[0].difference, "the global batch");
  EXPECT_FALSE(weak.ratios[1].unlike);
}

TEST(Contest, APriceAddsARatioToEachAtEqualRanks) {
  Contest priced = contest({"--servers", "1,2", "--price", "server=0.5,worker=1"});
  EXPECT_EQ(
      pairs(priced.ratios),
      "ps 1+3 / allreduce 4 by ranks; ps 1+3 / allreduce 3 of 4 by workers; ps 2+2 / allreduce 4 by ranks; "
      "ps 2+2 / allreduce 2 of 4 by workers; ps 1+3 / allreduce 4 by price; ps 2+2 / allreduce 4 by price; ");
  EXPECT_DOUBLE_EQ(priced.ratios[4].scale, 4.0 / 3.5);
  const std::vector<std::vector<Figures>> figures = {{{100, 1, 1}}, {{50, 1, 1}}};
  EXPECT_DOUBLE_EQ(paired(figures, priced.ratios[4]).front(), 0.5 * 4.0 / 3.5);
  leave_out(priced, {true, false, false, false, false});
  EXPECT_DOUBLE_EQ(priced.ratios.back().scale, 3.5 / 3.0) << "ps 2+2 is measured against ps 1+3 now";
  EXPECT_EQ(priced.ratios.back().basis, "price");
}

TEST(Contest, RoundsInWhichOneAloneReachedTheTargetCountForThatOne) {
  const double none = std::nan("");
  // Times of a: 2, 2, none, none; of b: 4, none, 4, none.
  const std::vector<std::vector<Figures>> figures = {{{8, 1, 2}, {8, 1, 2}, {8, 0, none}, {8, 0, none}},
                                                     {{4, 1, 4}, {4, 0, none}, {4, 1, 4}, {4, 0, none}}};
  Ratio ratio{"a", "b", "ranks", 0, 1, {}, {}, 0.95, false};
  EXPECT_EQ(paired(figures, ratio), (std::vector{2.0, 2.0, 2.0, 2.0}));
  ratio.measure = Measure::time_to_target;
  EXPECT_EQ(paired(figures, ratio), (std::vector{2.0, std::numeric_limits<double>::infinity(), 0.0}));
}

}  // namespace
}  // namespace steelyard::cli
