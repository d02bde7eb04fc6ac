// A mailbox between two ends: every header arrives once, in order, whole, and with what was written before
// it.
#include "modes/ps/mailbox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace steelyard::ps {
namespace {

constexpr std::size_t kLines = 4;

/// What the header of clock `clock` says.
Header header(Clock clock) {
  Header header;
  header.kind = clock % 2 == 0 ? Kind::push : Kind::reply;
  header.bundle = static_cast<BundleId>(clock % 7);
  header.worker = static_cast<std::int32_t>(clock % 5);
  header.clock = clock;
  header.version = -clock;
  return header;
}

void expect_whole(const Header& taken, Clock clock) {
  const Header put = header(clock);
  EXPECT_EQ(taken.kind, put.kind);
  EXPECT_EQ(taken.bundle, put.bundle);
  EXPECT_EQ(taken.worker, put.worker);
  EXPECT_EQ(taken.clock, put.clock);
  EXPECT_EQ(taken.version, put.version);
}

TEST(Mailbox, AnEmptyOneHasNothingAndLeavesTheHeaderAlone) {
  std::array<Header, kLines> lines{};
  Mailbox reader(lines);
  Header taken = header(42);
  EXPECT_FALSE(reader.take(taken));
  expect_whole(taken, 42);
}

TEST(Mailbox, AFullOneGivesAllInOrderAndThenNothing) {
  std::array<Header, kLines> lines{};
  Mailbox writer(lines);
  Mailbox reader(lines);
  // More turns than lines, so that every line is used again.
  for (Clock first = 0; first < 40; first += kLines) {
    for (Clock clock = first; clock < first + static_cast<Clock>(kLines); ++clock) writer.put(header(clock));
    Header taken;
    for (Clock clock = first; clock < first + static_cast<Clock>(kLines); ++clock) {
      ASSERT_TRUE(reader.take(taken));
      expect_whole(taken, clock);
    }
    EXPECT_FALSE(reader.take(taken)) << "what was taken is not taken again";
  }
}

TEST(Mailbox, OneLineIsEnoughForOneHeaderUnderWay) {
  std::array<Header, 1> lines{};
  Mailbox writer(lines);
  Mailbox reader(lines);
  Header taken;
  for (Clock clock = 0; clock < 5; ++clock) {
    writer.put(header(clock));
    ASSERT_TRUE(reader.take(taken));
    expect_whole(taken, clock);
    EXPECT_FALSE(reader.take(taken));
  }
}

/// The reader answers through a mailbox of its own, and the writer keeps as many headers under way as there
/// is room for: the most that a ring must bear. What belongs to a header is written, plainly, before it is
/// put.
TEST(Mailbox, BetweenTwoThreadsNothingIsLostTornOrOutOfOrder) {
  constexpr Clock kHeaders = 20000;
  std::array<Header, kLines> there{};
  std::array<Header, kLines> back{};
  std::vector<std::int64_t> payload(kLines);
  std::int64_t wrong = 0;  // Of the reader's thread alone until it is joined.
  std::thread reader([&] {
    Mailbox pushes(there);
    Mailbox replies(back);
    for (Clock expected = 0; expected < kHeaders;) {
      Header taken;
      if (!pushes.take(taken)) {
        std::this_thread::yield();
        continue;
      }
      const Header put = header(expected);
      const bool whole = taken.clock == put.clock && taken.version == put.version &&
                         taken.bundle == put.bundle && taken.worker == put.worker && taken.kind == put.kind;
      if (!whole || payload[static_cast<std::size_t>(expected) % kLines] != 3 * expected) ++wrong;
      replies.put(header(expected++));
    }
  });
  Mailbox pushes(there);
  Mailbox replies(back);
  Clock answered = 0;
  for (Clock sent = 0; answered < kHeaders;) {
    if (sent < kHeaders && sent - answered < static_cast<Clock>(kLines)) {
      payload[static_cast<std::size_t>(sent) % kLines] = 3 * sent;
      pushes.put(header(sent++));
      continue;
    }
    Header taken;
    if (!replies.take(taken)) {
      std::this_thread::yield();
      continue;
    }
    EXPECT_EQ(taken.clock, answered);
    ++answered;
  }
  reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace steelyard::ps
