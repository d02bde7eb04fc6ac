// How many steps make a trial of a given time.
#include "src/cli/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace steelyard::cli {
namespace {

TEST(StepsFor, TheTimeOverThatOfAStepRoundedUpToTwoDigits) {
  EXPECT_EQ(steps_for(2.0, 1e-3, 20), 2000);
  EXPECT_EQ(steps_for(2.0, 0.81e-3, 20), 2500) << "2469 exactly";
  EXPECT_EQ(steps_for(2.0, 2.0 / 101.0, 5), 110);
  EXPECT_EQ(steps_for(2.0, 2.0 / 73.5, 5), 74) << "two digits are there without rounding";
}

TEST(StepsFor, MoreTimeOrFasterStepsNeverGiveFewer) {
  Step before = 0;
  for (double trial_s = 0.01; trial_s < 1000.0; trial_s *= 1.07) {
    const Step steps = steps_for(trial_s, 1e-3, 0);
    EXPECT_GE(steps, before);
    EXPECT_GE(static_cast<double>(steps), std::min(trial_s / 1e-3 - 1e-6, 1e6));
    EXPECT_LE(static_cast<double>(steps), std::max(1.1 * trial_s / 1e-3 + 1.0, 20.0));
    before = steps;
  }
}

TEST(StepsFor, MostStepsCountHoweverSlowTheyAre) {
  EXPECT_EQ(steps_for(2.0, 60.0, 20), 60);
  EXPECT_EQ(steps_for(2.0, 60.0, 0), 20);
}

TEST(StepsFor, StepsOfNoTimeAreAMillion) { EXPECT_EQ(steps_for(2.0, 1e-9, 20), 1000000); }

}  // namespace
}  // namespace steelyard::cli
