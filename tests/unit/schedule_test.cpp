// What a message waits for follows from the places that it shares with earlier ones.
#include "src/collective/schedule.hpp"

#include <gtest/gtest.h>

namespace steelyard {
namespace {

TEST(Schedule, MessagesOfDifferentPlacesWaitForNothing) {
  std::vector<float> data(20);
  Schedule schedule(100);
  schedule.receive(1, std::span(data).first(10), true);
  schedule.send(1, std::span(data).last(10));
  EXPECT_EQ(schedule.sends()[0].after_received, 0U);
  EXPECT_EQ(schedule.receives()[0].after_sent, 0U);
}

TEST(Schedule, ASegmentIsSentAfterThoseThatWereReceivedThere) {
  std::vector<float> data(20);
  Schedule schedule(5);
  schedule.receive(1, data, true);                       // Segments 0 to 3.
  schedule.send(2, std::span(data).subspan(5, 5));       // Segment 1 alone.
  schedule.send(2, std::span(data).subspan(8, 4));       // Of 1 and 2.
  schedule.receive(2, std::span(data).first(6), false);  // Two of 3 each; the second is where a send was.
  ASSERT_EQ(schedule.sends().size(), 2U);
  EXPECT_EQ(schedule.sends()[0].after_received, 2U);
  EXPECT_EQ(schedule.sends()[1].after_received, 3U);
  ASSERT_EQ(schedule.receives().size(), 6U);
  EXPECT_EQ(schedule.receives()[4].after_sent, 0U);
  EXPECT_EQ(schedule.receives()[5].after_sent, 1U);
}

TEST(Schedule, SegmentsCoverARunWithoutGapsAndNoneIsEmpty) {
  for (const std::size_t count : {0U, 1U, 4U, 5U, 6U, 11U, 999U}) {
    std::vector<float> data(count);
    Schedule schedule(5);
    schedule.send(0, data);
    const float* next = data.data();
    for (const SendItem& item : schedule.sends()) {
      EXPECT_EQ(item.data.data(), next);
      EXPECT_GT(item.data.size(), 0U);
      EXPECT_LE(item.data.size(), 5U);
      EXPECT_LE(item.data.size(), schedule.largest());
      next += item.data.size();
    }
    EXPECT_EQ(next, data.data() + count);
  }
}

TEST(Schedule, PartsAreNumberedModuloTheirNumber) {
  std::vector<float> data(10);
  EXPECT_EQ(nth_part(data, -1, 3).data(), nth_part(data, 2, 3).data());
  EXPECT_EQ(nth_part(data, 4, 3).data(), nth_part(data, 1, 3).data());
  EXPECT_EQ(nth_part(data, 0, 3).size() + nth_part(data, 1, 3).size() + nth_part(data, 2, 3).size(), 10U);
}

}  // namespace
}  // namespace steelyard
