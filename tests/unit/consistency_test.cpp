#include "modes/ps/consistency/consistency.hpp"

#include <gtest/gtest.h>

namespace steelyard::ps {
namespace {

TEST(Consistency, WhoMayReadAndWhatMakesAnUpdate) {
  const auto bsp = make_consistency("bsp").value();
  EXPECT_TRUE(bsp->admits(3, 3));
  EXPECT_FALSE(bsp->admits(3, 2));
  EXPECT_EQ(bsp->pushes_per_update(5), 5);
  const auto asp = make_consistency("asp").value();
  EXPECT_TRUE(asp->admits(1000, 0));
  EXPECT_EQ(asp->pushes_per_update(5), 1);
}

TEST(Consistency, UnknownNameListsEveryPolicy) {
  EXPECT_EQ(make_consistency("x").error().message, "unknown consistency 'x'; choose one of: bsp, asp");
}

}  // namespace
}  // namespace steelyard::ps
