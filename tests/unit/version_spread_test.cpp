// The spread of versions, kept as bundles advance, is that of all versions looked at anew.
#include "modes/ps/version_spread.hpp"

#include <gtest/gtest.h>

#include <random>

namespace steelyard::ps {
namespace {

TEST(VersionSpread, IsThatOfAllVersions) {
  std::mt19937 random(1);
  for (const std::size_t bundles : {1U, 2U, 7U, 300U}) {
    VersionSpread spread(bundles);
    std::vector<std::int64_t> versions(bundles, 0);
    EXPECT_EQ(spread.spread(), 0);
    for (int i = 0; i < 2'000; ++i) {
      std::int64_t& one = versions[random() % bundles];
      const std::int64_t next = one + 1 + static_cast<std::int64_t>(random() % 3);
      spread.advance(one, next);
      one = next;
      const auto [low, high] = std::ranges::minmax(versions);
      ASSERT_EQ(spread.spread(), high - low);
    }
  }
}

TEST(VersionSpread, OfNothingIsZero) { EXPECT_EQ(VersionSpread(0).spread(), 0); }

}  // namespace
}  // namespace steelyard::ps
