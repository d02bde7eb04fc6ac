// Conversions to 16 bit round to the nearest number there is, ties to even, and keep what is no number.
#include "kernels/convert.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "src/base/random.hpp"
#include "tests/support/instruction_sets.hpp"

namespace steelyard::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Half {
  static constexpr std::uint16_t kInfinite = 0x7c00;
  static std::uint16_t narrow(float x) { return ToHalf{}(x); }
  static float wide(std::uint16_t x) { return FromHalf{}(x); }
};
struct Bfloat {
  static constexpr std::uint16_t kInfinite = 0x7f80;
  static std::uint16_t narrow(float x) { return ToBfloat{}(x); }
  static float wide(std::uint16_t x) { return FromBfloat{}(x); }
};

template <typename Format>
class Convert : public testing::Test {};
using Formats = testing::Types<Half, Bfloat>;
TYPED_TEST_SUITE(Convert, Formats);

TYPED_TEST(Convert, EveryNumberOf16BitsSurvivesTheWayThereAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto narrow = static_cast<std::uint16_t>(bits);
    if ((bits & 0x7fffU) > TypeParam::kInfinite)
      ASSERT_TRUE(std::isnan(TypeParam::wide(narrow)) &&
                  std::isnan(TypeParam::wide(TypeParam::narrow(TypeParam::wide(narrow)))));
    else
      ASSERT_EQ(TypeParam::narrow(TypeParam::wide(narrow)), narrow) << bits;
  }
}

// Between neighbours lie the mean, which goes to the even one, and floats on both sides of it.
TYPED_TEST(Convert, RoundsToTheNearestAndTiesToEven) {
  for (std::uint16_t bits = 0; bits + 1 < TypeParam::kInfinite; ++bits) {
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const float mean = TypeParam::wide(bits) + (TypeParam::wide(next) - TypeParam::wide(bits)) / 2.0F;
    for (const std::uint16_t sign : {std::uint16_t{0}, std::uint16_t{0x8000}}) {
      const auto narrow = [sign](float x) { return TypeParam::narrow(sign == 0 ? x : -x); };
      ASSERT_EQ(narrow(std::nextafter(mean, 0.0F)), sign | bits) << bits;
      ASSERT_EQ(narrow(mean), sign | (bits % 2 == 0 ? bits : next)) << bits;
      ASSERT_EQ(narrow(std::nextafter(mean, kInfinity)), sign | next) << bits;
    }
  }
}

TYPED_TEST(Convert, BeyondTheLargestNumberIsInfinityAndNanStaysNan) {
  const float largest = TypeParam::wide(TypeParam::kInfinite - 1);
  EXPECT_TRUE(std::isfinite(largest));
  EXPECT_EQ(TypeParam::narrow(std::numeric_limits<float>::max()), TypeParam::kInfinite);
  EXPECT_EQ(TypeParam::narrow(-kInfinity), TypeParam::kInfinite | 0x8000);
  EXPECT_EQ(TypeParam::wide(TypeParam::kInfinite), kInfinity);
  for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU})
    EXPECT_TRUE(std::isnan(TypeParam::wide(TypeParam::narrow(std::bit_cast<float>(bits))))) << bits;
}

TEST(ConvertHalf, TheLimitsOfTheFormatAreThoseOfIeee754) {
  EXPECT_EQ(ToHalf{}(65504.0F), 0x7bff);
  EXPECT_EQ(ToHalf{}(65519.996F), 0x7bff);
  EXPECT_EQ(ToHalf{}(65520.0F), 0x7c00);
  EXPECT_EQ(ToHalf{}(0x1p-24F), 1);
  EXPECT_EQ(ToHalf{}(0x1p-25F), 0);
  EXPECT_EQ(ToHalf{}(-0.0F), 0x8000);
}

/// Floats of every exponent, and numbers that are none.
std::vector<float> floats() {
  std::vector<float> all;
  for (std::uint64_t i = 0; i < 200'000; ++i)
    all.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(7, 0, i) >> 32U)));
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
    all.push_back(std::bit_cast<float>(bits << 16U | 0x1000U));
  return all;
}

void check_narrowing(const std::vector<float>& from) {
  std::vector<std::uint16_t> half(from.size());
  std::vector<std::uint16_t> bfloat(from.size());
  to_half(from, half);
  to_bfloat(from, bfloat);
  for (std::size_t i = 0; i < from.size(); ++i) {
    ASSERT_EQ(half[i], ToHalf{}(from[i])) << std::bit_cast<std::uint32_t>(from[i]);
    ASSERT_EQ(bfloat[i], ToBfloat{}(from[i])) << std::bit_cast<std::uint32_t>(from[i]);
  }
}

void check_widening() {
  std::vector<std::uint16_t> all(0x10000);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(all.size());
  std::vector<float> sums(all.size(), 1.0F);
  from_half(all, wide);
  add_half(sums, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(FromHalf{}(all[i]))) << i;
    ASSERT_TRUE(sums[i] == 1.0F + wide[i] || std::isnan(wide[i])) << i;
  }
  from_bfloat(all, wide);
  std::ranges::fill(sums, 1.0F);
  add_bfloat(sums, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(FromBfloat{}(all[i]))) << i;
    ASSERT_TRUE(sums[i] == 1.0F + wide[i] || std::isnan(wide[i])) << i;
  }
}

// Arrays may be converted by instructions of the processor: the bits are those of the functor.
TEST(ConvertArrays, GiveTheBitsOfTheFunctor) {
  const std::vector<float> from = floats();
  test::with_every_instruction_set([&] {
    check_narrowing(from);
    check_widening();
  });
}

}  // namespace
}  // namespace steelyard::kernels
