#include "src/base/guarded.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

namespace steelyard {
namespace {

std::string failure(const std::function<std::string()>& work, const GuardLimits& limits = {}) {
  const auto result = run_guarded(work, limits);
  return result ? "worked" : result.error().message;
}

TEST(Guarded, ReturnsWhatTheWorkReturned) {
  const std::string text(3'000'000, 'x');
  EXPECT_EQ(run_guarded([&] { return text; }).value(), text);
  EXPECT_EQ(run_guarded([] { return std::string(); }).value(), "");
}

TEST(Guarded, WorkChangesNothingHere) {
  int count = 0;
  EXPECT_TRUE(run_guarded([&] { return std::to_string(++count); }));
  EXPECT_EQ(count, 0);
}

TEST(Guarded, SaysHowTheWorkEnded) {
  EXPECT_EQ(failure([]() -> std::string {
              ::raise(SIGKILL);
              return "";
            }),
            "crashed (signal 9)");
  EXPECT_EQ(failure([]() -> std::string { throw std::runtime_error("no"); }), "failed (exit code 1)");
  EXPECT_EQ(failure([]() -> std::string { throw std::bad_alloc(); }), "needs too much memory");
  EXPECT_EQ(failure([]() -> std::string { ::_exit(7); }), "failed (exit code 7)");
}

TEST(Guarded, EndsWorkThatDoesNot) {
  const auto for_ever = []() -> std::string {
    for (;;) ::pause();
  };
  EXPECT_EQ(failure(for_ever, {.seconds = 1}), "took longer than 1 s");
}

TEST(Guarded, EndsWorkThatGoesRoundInCircles) {
  const auto circle = []() -> std::string {
    for (volatile unsigned turn = 0;;) turn = turn + 1;
  };
  EXPECT_EQ(failure(circle, {.processor_seconds = 1}), "took more than 1 s of work");
}

TEST(Guarded, BoundsTheResult) {
  EXPECT_EQ(failure([] { return std::string(2'000'000, 'x'); }, {.result_bytes = 1'000'000}),
            "has more than 1000000 bytes of names");
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Guarded, BoundsTheMemory) {
  const auto greedy = [] {
    const std::vector<char> memory(std::size_t{1} << 30U, 'x');
    const volatile char* const last = &memory.back();  // Else a compiler may do without the memory.
    return std::string(1, *last);
  };
  EXPECT_EQ(failure(greedy, {.memory_bytes = std::size_t{1} << 28U}), "needs too much memory");
}
#endif

}  // namespace
}  // namespace steelyard
