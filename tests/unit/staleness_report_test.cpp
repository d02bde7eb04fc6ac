// What a reader of the output is told of staleness, drops, waiting and stragglers.
#include "src/cli/staleness_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/cli/report.hpp"

namespace steelyard::cli {
namespace {

using trace::text;
using Views = std::vector<TrialView>;

trace::TrialRow ps(const char* consistency, const char* policy = "keep") {
  trace::TrialRow row{};
  row.mode = text<16>("ps");
  row.consistency = text<16>(consistency);
  row.staleness_policy = text<16>(policy);
  row.servers = 1;
  row.workers = 3;
  row.placement = text<64>("striped");
  row.transport = text<16>("shared");
  return row;
}

trace::Straggler slow(double ratio) {
  trace::Straggler one;
  one.worker = 2;
  one.rank = 5;
  one.compute_ratio = ratio;
  one.windows = one.windows_led = 10;
  one.window_steps = 50;
  one.chronic = true;
  return one;
}

trace::TrialSummary summary() {
  trace::TrialSummary s;
  s.measured_steps = 500;
  s.pushes = 56'000;
  s.dropped = 1234;
  s.drops.share = 1234.0 / 56'000.0;
  s.drops.by_reason = {1200, 34, 0};
  s.drops.by_worker = {1000, 234};
  s.drops.by_server = {1234};
  s.staleness.median = 3.0;
  s.staleness.p95 = 6.0;
  s.staleness.max = 11;
  s.staleness.mean_age_ms = 12.3;
  s.staleness.max_skew = 2;
  s.wait = {0.31, {0.4, 0.4, 0.1}, {0.01, 0.02, 0.87}};
  s.straggler = slow(2.0);
  return s;
}

TEST(StalenessReport, TheTitleSaysThePolicy) {
  trace::TrialRow row = ps("ssp");
  row.max_lag = 3;
  EXPECT_EQ(trial_title(row), "ps ssp (lag 3), 1 server + 3 workers, placement striped, transport shared");
  row = ps("bsp");
  EXPECT_EQ(consistency_text(row), "bsp");
  row.backup_workers = 1;
  EXPECT_EQ(consistency_text(row), "bsp, 1 backup worker");
  row.backup_workers = 2;
  EXPECT_EQ(consistency_text(row), "bsp, 2 backup workers");
  row = ps("asp", "drop");
  row.max_staleness = 4;
  EXPECT_EQ(consistency_text(row), "asp drop beyond 4");
  row.on_drop = text<16>("recompute");
  EXPECT_EQ(consistency_text(row), "asp drop beyond 4, recomputed");
  EXPECT_EQ(consistency_text(ps("asp", "damp")), "asp damp");
  EXPECT_EQ(consistency_text(ps("asp", "")), "asp") << "of a run before there were policies";
}

TEST(StalenessReport, TheLinesSayTheFigures) {
  EXPECT_EQ(staleness_text(ps("asp", "drop"), summary()),
            "staleness  median 3 / 95 % 6 / max 11 updates, mean age 12.3 ms, skew up to 2\n"
            "dropped    1,234 of 56,000 pushes (2.2 %): 1,200 stale, 34 late\n"
            "waiting    31 % of the step; 87 % of it for worker 2\n"
            "straggler  worker 2 (rank 5): computes 2.00 x as long as the others; in 10 of 10 windows\n");
}

TEST(StalenessReport, LinesWithNothingToSayAreLeftOut) {
  trace::TrialSummary s;
  s.measured_steps = 10;
  s.wait.share = 0.5;
  EXPECT_EQ(staleness_text({}, s), "waiting    50 % of the step\n");
  s.pushes = 7;
  trace::TrialRow row = ps("bsp");
  EXPECT_EQ(staleness_text(row, s).find("dropped"), std::string::npos);
  row.backup_workers = 1;
  EXPECT_NE(staleness_text(row, s).find("dropped    0 of 7 pushes (0.0 %)\n"), std::string::npos)
      << "a policy that drops says that it dropped none";
}

/// The text with its lines joined: where it breaks is not what is tested.
std::string unbroken(const std::string& lines) {
  std::string flat;
  for (const char c : lines)
    if (c != '\n' && c != ' ')
      flat += c;
    else if (!flat.ends_with(' '))
      flat += ' ';
  return flat;
}

TEST(StalenessReport, AWorkerThatWaitsItselfAndAHiccup) {
  trace::TrialSummary s;
  s.straggler = slow(1.0);
  s.straggler->reason = trace::StragglerReason::wait;
  s.straggler->waited_for = 0.8;
  EXPECT_NE(unbroken(staleness_text({}, s)).find("yet 80 % of the waiting is for"), std::string::npos);
  s.straggler->steps = {57};
  EXPECT_NE(unbroken(staleness_text({}, s)).find("most of it in step 57 "), std::string::npos);
  s.straggler->steps = {57, 90};
  EXPECT_NE(unbroken(staleness_text({}, s)).find("most of it in steps 57, 90 "), std::string::npos);
}

TEST(StalenessReport, JsonHasTheSameFigures) {
  const nlohmann::json json = staleness_json(summary());
  EXPECT_EQ(json["staleness"]["mean_age_ms"], 12.3);
  EXPECT_EQ(json["staleness"]["max_skew"], 2);
  EXPECT_EQ(json["drops"]["stale"], 1200);
  EXPECT_EQ(json["drops"]["late"], 34);
  EXPECT_EQ(json["drops"]["stopped"], 0);
  EXPECT_EQ(json["drops"]["by_worker"], (nlohmann::json{1000, 234}));
  EXPECT_EQ(json["wait"]["waited_for"][2], 0.87);
  EXPECT_EQ(json["straggler"]["rank"], 5);
  EXPECT_EQ(json["straggler"]["reason"], "compute");
  EXPECT_EQ(json["straggler"]["windows"]["led"], 10);
  EXPECT_TRUE(staleness_json({})["straggler"].is_null());
}

TEST(StalenessReport, CsvHasAFieldForEachHead) {
  const auto commas = [](const std::string& line) { return std::ranges::count(line, ','); };
  EXPECT_EQ(commas(staleness_csv_head()), commas(staleness_csv(ps("asp"), summary())));
  EXPECT_EQ(commas(staleness_csv_head()), commas(staleness_csv({}, {})));
}

TEST(StalenessReport, ColumnsAreThereOnlyForThoseThatHaveThem) {
  const trace::TrialRow asp = ps("asp");
  const trace::TrialRow allreduce{};
  const trace::TrialSummary stale = summary();
  const trace::TrialSummary none;
  EXPECT_TRUE(StalenessColumns(Views{{asp, none}, {allreduce, none}}).heads().empty());
  EXPECT_EQ(StalenessColumns(Views{{asp, none}}).legend(), "");
  const StalenessColumns columns(Views{{asp, stale}, {allreduce, none}});
  EXPECT_EQ(columns.heads(), (std::vector<std::string>{"stale", "drop %"}));
  EXPECT_EQ(columns.cells(Views{{asp, stale}}), (std::vector<std::string>{"3/11", "2.2"}));
  EXPECT_EQ(columns.cells(Views{{allreduce, none}}), (std::vector<std::string>{"-", "-"}));
}

TEST(StalenessReport, AStragglerOfFewRoundsIsNoise) {
  trace::TrialRow row = ps("bsp");
  row.label = text<64>("ps 1+3");
  trace::TrialRow fresh = row;
  fresh.confirmation = 1;
  trace::TrialSummary twice;
  twice.straggler = slow(2.0);
  trace::TrialSummary slower = twice;
  slower.straggler->compute_ratio = 3.0;
  const trace::TrialSummary none;
  EXPECT_EQ(stragglers_text(Views{{row, twice}, {row, slower}, {row, slower}, {row, none}, {fresh, none}}),
            "straggler  ps 1+3: worker 2 (rank 5) computes 3.00 x as long as the others; in 3 of 4 rounds\n");
  EXPECT_EQ(stragglers_text(Views{{row, twice}, {row, none}, {row, none}}), "");
}

}  // namespace
}  // namespace steelyard::cli
