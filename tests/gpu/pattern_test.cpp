// What replay's gradients and checks are made of.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/cuda/pattern.hpp"
#include "tests/support/on_device.hpp"

namespace steelyard::test {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kClasses = 251;

/// The least wrong element of `values` by find_difference, or kNone.
std::uint64_t first_wrong(const OnDevice<float>& table, const OnDevice<float>& values, std::size_t begin) {
  const cuda::Stream stream;
  const OnDevice<std::uint64_t> first(std::vector<std::uint64_t>{kNone});
  kernels::find_difference(stream.queue(), {table.data(), kClasses, begin}, values.span(), 1000,
                           first.data());
  return first.values(stream).front();
}

TEST(Pattern, FillRepeatsTheTableFromAnyPlace) {
  const cuda::Stream stream;
  const auto table = random_values(kClasses, 1);
  const OnDevice<float> on_device(table);
  for (const std::size_t count : kCounts)
    for (const std::size_t shift : kShifts) {
      const OnDevice<float> to(std::vector<float>(count), shift);
      kernels::fill(stream.queue(), {on_device.data(), kClasses, 200}, to.span());
      const auto values = to.values(stream);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], table[(200 + i) % kClasses]) << i;
    }
}

TEST(Pattern, TheFirstOfAllDifferencesIsFound) {
  const auto table = random_values(kClasses, 1);
  const OnDevice<float> on_device(table);
  for (const std::size_t shift : kShifts) {
    std::vector<float> values(10'001);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = table[(17 + i) % kClasses];
    EXPECT_EQ(first_wrong(on_device, OnDevice<float>(values, shift), 17), kNone);
    values[10'000] = -values[10'000];
    EXPECT_EQ(first_wrong(on_device, OnDevice<float>(values, shift), 17), 1000U + 10'000U);
    values[4099] = -0.0F;
    values[7000] = 2.0F;
    EXPECT_EQ(first_wrong(on_device, OnDevice<float>(values, shift), 17), 1000U + 4099U);
  }
}

TEST(Pattern, ScalesWholeNumbersExactly) {
  const cuda::Stream stream;
  const OnDevice<float> from(std::vector<float>{1.0F, 2.0F, 7.0F}), to(std::vector<float>(3));
  kernels::scale(stream.queue(), from.span(), -8.0F, to.span());
  EXPECT_EQ(to.values(stream), (std::vector<float>{-8.0F, -16.0F, -56.0F}));
}

TEST(Spin, TakesAsLongAsAsked) {
  const cuda::Stream stream;
  const cuda::Event begin(cuda::Event::Timed::yes), end(cuda::Event::Timed::yes);
  kernels::spin(stream.queue(), 1000);  // The first launch loads the kernel.
  stream.record(begin);
  kernels::spin(stream.queue(), 20'000'000);
  stream.record(end);
  EXPECT_FALSE(end.reached());
  stream.finish();
  EXPECT_TRUE(end.reached());
  EXPECT_GE(end.ms_since(begin), 19.9);
  EXPECT_LT(end.ms_since(begin), 40.0);
}

}  // namespace
}  // namespace steelyard::test
