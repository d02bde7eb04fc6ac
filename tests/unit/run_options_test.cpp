// The settings of a recorded trial.
#include "src/cli/run_options.hpp"

#include <gtest/gtest.h>

namespace steelyard::cli {
namespace {

using trace::text;

TEST(TrialSettings, AreTheContestantsOwn) {
  RunOptions options{{{"placement", "striped"}, {"lr", "0.02"}, {"optimizer", "sgd"}},
                     {"mode=ps servers=1", "servers=1 lr=0.1"}};
  trace::RunTables tables;
  tables.model = "lenet";
  trace::TrialRow row{};
  row.mode = text<16>("ps");
  row.label = text<64>("B: ps 1+3");
  EXPECT_EQ(trial_settings(options, tables, row, false)["lr"], "0.1");
  row.label = text<64>("A: ps 1+3");
  EXPECT_EQ(trial_settings(options, tables, row, false)["lr"], "0.02");
  row.label = text<64>("Z: ps 1+3");  // A file may hold anything.
  EXPECT_EQ(trial_settings(options, tables, row, false)["lr"], "0.02");
}

TEST(TrialSettings, AreWholeWhereTheTraceHadNoRoom) {
  const std::string placement = "explicit:/" + std::string(60, 'p') + "a";
  trace::TrialRow row{};
  row.mode = text<16>("ps");
  row.placement = text<64>(placement);
  const auto kept = [&row](const std::string& options) {
    return trial_settings({{{"placement", options}}, {}}, {}, row, false)["placement"];
  };
  EXPECT_EQ(kept(placement), placement);
  EXPECT_EQ(kept("striped"), trace::view(row.placement)) << "of another trial";
}

TEST(TrialSettings, LeaveOutWhatHasNoEffect) {
  RunOptions options{{{"consistency", "bsp"},
                      {"lr-scale", "none"},
                      {"collective", "ring"},
                      {"time-limit", "10"},
                      {"staleness-policy", "drop"},
                      {"max-staleness", "2"},
                      {"optimizer", "adam"},
                      {"momentum", "0.9"}},
                     {}};
  trace::TrialRow row{};
  row.consistency = text<16>("bsp");
  row.staleness_policy = text<16>("drop");
  row.max_staleness = 2;
  const auto has = [&](const char* mode, const char* name) {
    row.mode = text<16>(mode);
    return trial_settings(options, {}, row, false).contains(name);
  };
  for (const char* name : {"lr-scale", "staleness-policy", "max-staleness", "max-lag", "momentum"})
    for (const char* mode : {"ps", "allreduce"}) EXPECT_FALSE(has(mode, name)) << mode << " " << name;
  for (const char* name : {"consistency", "backup-workers", "time-limit"}) {
    EXPECT_TRUE(has("ps", name)) << name;
    EXPECT_FALSE(has("allreduce", name)) << name;
  }
  EXPECT_FALSE(has("ps", "collective"));
  row.collective = text<32>("ring");
  EXPECT_TRUE(has("allreduce", "collective"));
  row.consistency = text<16>("asp");
  EXPECT_TRUE(has("ps", "max-staleness"));
}

}  // namespace
}  // namespace steelyard::cli
