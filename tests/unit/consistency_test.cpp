#include "modes/ps/consistency/consistency.hpp"

#include <gtest/gtest.h>

namespace steelyard::ps {
namespace {

TEST(Consistency, WhoMayReadAndWhatMakesAnUpdate) {
  const auto bsp = make_consistency("bsp").value();
  EXPECT_TRUE(bsp->admits(3, {0, 3}));
  EXPECT_FALSE(bsp->admits(3, {3, 2}));
  EXPECT_EQ(bsp->pushes_per_update(5), 5);
  EXPECT_TRUE(bsp->by_step());
  const auto backed = make_consistency("bsp", {.backup_workers = 2}).value();
  EXPECT_EQ(backed->pushes_per_update(5), 3);
  const auto asp = make_consistency("asp").value();
  EXPECT_TRUE(asp->admits(1000, {0, 0}));
  EXPECT_EQ(asp->pushes_per_update(5), 1);
  const auto ssp = make_consistency("ssp", {.max_lag = 2}).value();
  EXPECT_TRUE(ssp->admits(7, {5, 100}));
  EXPECT_FALSE(ssp->admits(8, {5, 100}));
  EXPECT_EQ(ssp->pushes_per_update(5), 1);
  EXPECT_FALSE(ssp->by_step());
}

TEST(Consistency, UnknownNameListsEveryPolicy) {
  EXPECT_EQ(make_consistency("x").error().message, "unknown consistency 'x'; choose one of: bsp, ssp, asp");
}

}  // namespace
}  // namespace steelyard::ps
