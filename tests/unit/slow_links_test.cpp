#include "src/mpi/slow_links.hpp"

#include <gtest/gtest.h>

namespace steelyard::mpi {
namespace {

// A link of 1 byte per 2 ns at a quarter of that: 8 ns a byte, of which the last 2 are the message's own.
TEST(SlowLinks, AMessageStartsWhenWhatItNeedsAnywayIsAllThatIsLeft) {
  SlowLinks links({{3, 2.0, 0.25, 0}});
  EXPECT_EQ(links.link(1), nullptr);
  SlowLinks::Link* const link = links.link(3);
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(SlowLinks::occupy(*link, 1000, 500), 500 + 6000);
}

TEST(SlowLinks, MessagesOccupyALinkOneAfterTheOther) {
  SlowLinks links({{3, 2.0, 0.25, 0}, {4, 2.0, 0.25, 0}});
  SlowLinks::Link& link = *links.link(3);
  EXPECT_EQ(SlowLinks::occupy(link, 1000, 0), 6000);
  EXPECT_EQ(SlowLinks::occupy(link, 1000, 10), 8000 + 6000);
  EXPECT_EQ(SlowLinks::occupy(*links.link(4), 1000, 10), 10 + 6000) << "another link is another queue";
  EXPECT_EQ(SlowLinks::occupy(link, 1000, 50'000), 50'000 + 6000) << "free again";
}

}  // namespace
}  // namespace steelyard::mpi
