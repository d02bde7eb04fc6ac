// Kernels of one element at a time give the bits of their functor, wherever the arrays begin. This file is
// compiled without contraction of products and sums, as those kernels are.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <numeric>

#include "kernels/cuda/convert.hpp"
#include "kernels/cuda/elementwise.hpp"
#include "kernels/cuda/update.hpp"
#include "tests/support/on_device.hpp"

namespace steelyard::test {
namespace {

using Floats = std::vector<float>;
using Words = std::vector<std::uint16_t>;

template <typename Check>
void at_all_sizes(Check&& check) {
  for (const std::size_t count : kCounts)
    for (const std::size_t shift : kShifts) {
      const testing::ScopedTrace trace(
          __FILE__, __LINE__, std::to_string(count) + " elements, shifted by " + std::to_string(shift));
      check(count, shift);
    }
}

template <typename T>
void expect_same_bits(const std::vector<T>& found, const std::vector<T>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_TRUE(std::memcmp(&found[i], &wanted[i], sizeof(T)) == 0)
        << "element " << i << ": " << found[i] << " instead of " << wanted[i];
}

/// Floats of every exponent, and numbers that are none.
Floats any_floats(std::size_t count) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random_bits(7, 0, i) >> 32U));
  return values;
}

Words any_words(std::size_t count) {
  Words words(count);
  std::iota(words.begin(), words.end(), std::uint16_t{0});
  return words;
}

TEST(Elementwise, AddsLikeTheCpu) {
  const cuda::Stream stream;
  at_all_sizes([&](std::size_t count, std::size_t shift) {
    const Floats a = random_values(count, 1), b = random_values(count, 2);
    Floats sum(count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = kernels::Sum{}(a[i], b[i]);
    const OnDevice<float> first(a, shift), second(b), target(Floats(count, 0.0F), shift);
    kernels::add(stream.queue(), target.span(), first.span(), second.span());
    expect_same_bits(target.values(stream), sum);
    kernels::add(stream.queue(), first.span(), second.span());
    expect_same_bits(first.values(stream), sum);
  });
}

TEST(Elementwise, NormalisesLikeTheCpu) {
  const cuda::Stream stream;
  at_all_sizes([&](std::size_t count, std::size_t shift) {
    std::vector<std::uint8_t> pixels(count);
    std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
    const kernels::Normal normal(0.286F, 0.353F);
    Floats wanted(count);
    for (std::size_t i = 0; i < count; ++i) wanted[i] = normal(pixels[i]);
    const OnDevice<std::uint8_t> from(pixels, shift);
    const OnDevice<float> to(Floats(count, 0.0F));
    kernels::normalise(stream.queue(), from.span(), 0.286F, 0.353F, to.span());
    expect_same_bits(to.values(stream), wanted);
  });
}

template <typename Functor>
void check_narrowing(void (*kernel)(const kernels::Queue&, std::span<const float>,
                                    std::span<std::uint16_t>)) {
  const cuda::Stream stream;
  at_all_sizes([&](std::size_t count, std::size_t shift) {
    const Floats values = any_floats(count);
    Words wanted(count);
    for (std::size_t i = 0; i < count; ++i) wanted[i] = Functor{}(values[i]);
    const OnDevice<float> from(values, shift);
    const OnDevice<std::uint16_t> to(Words(count, 0), shift);
    kernel(stream.queue(), from.span(), to.span());
    expect_same_bits(to.values(stream), wanted);
  });
}

template <typename Functor>
void check_widening(void (*kernel)(const kernels::Queue&, std::span<const std::uint16_t>, std::span<float>)) {
  const cuda::Stream stream;
  at_all_sizes([&](std::size_t count, std::size_t shift) {
    const Words words = any_words(count);
    Floats wanted(count);
    for (std::size_t i = 0; i < count; ++i) wanted[i] = Functor{}(words[i]);
    const OnDevice<std::uint16_t> from(words, shift);
    const OnDevice<float> to(Floats(count, 0.0F), shift);
    kernel(stream.queue(), from.span(), to.span());
    expect_same_bits(to.values(stream), wanted);
  });
}

template <typename Functor>
void check_adding(void (*kernel)(const kernels::Queue&, std::span<float>, std::span<const std::uint16_t>)) {
  const cuda::Stream stream;
  at_all_sizes([&](std::size_t count, std::size_t shift) {
    Words words = any_words(count);
    for (std::uint16_t& word : words)
      word &= 0x3bffU;  // Finite: bits of a NaN in a sum are nobody's promise.
    const Floats values = random_values(count, 3);
    Floats wanted = values;
    for (std::size_t i = 0; i < count; ++i) wanted[i] += Functor{}(words[i]);
    const OnDevice<std::uint16_t> from(words, shift);
    const OnDevice<float> to(values, shift);
    kernel(stream.queue(), to.span(), from.span());
    expect_same_bits(to.values(stream), wanted);
  });
}

TEST(Convert, RoundsLikeTheCpu) {
  check_narrowing<kernels::ToHalf>(kernels::to_half);
  check_narrowing<kernels::ToBfloat>(kernels::to_bfloat);
}

TEST(Convert, WidensLikeTheCpu) {
  check_widening<kernels::FromHalf>(kernels::from_half);
  check_widening<kernels::FromBfloat>(kernels::from_bfloat);
}

TEST(Convert, AddsLikeTheCpu) {
  check_adding<kernels::FromHalf>(kernels::add_half);
  check_adding<kernels::FromBfloat>(kernels::add_bfloat);
}

/// One element, with as much state as the rule keeps.
template <typename Rule>
float apply(const Rule& rule, float w, float g, float& first, float& second) {
  if constexpr (kernels::kStateOf<Rule> == 0) return rule(w, g);
  if constexpr (kernels::kStateOf<Rule> == 1) return rule(w, g, first);
  if constexpr (kernels::kStateOf<Rule> == 2) return rule(w, g, first, second);
}

template <typename Rule>
void check_update(const Rule& rule, std::size_t count, std::size_t shift) {
  const cuda::Stream stream;
  const std::size_t kept = kernels::kStateOf<Rule>;
  Floats values = random_values(count, 1), state(count * kept);
  Floats none(count);
  const OnDevice<float> on_device(values, shift), state_on_device(state);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const Floats gradient = random_values(count, 10 + step);
    const OnDevice<float> gradient_on_device(gradient, shift);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = apply(rule, values[i], gradient[i], (kept > 0 ? state : none)[i],
                        kept > 1 ? state[count + i] : none[i]);
    kernels::update(
        stream.queue(), rule,
        {count, on_device.data(), gradient_on_device.data(), on_device.data(), state_on_device.data()});
    expect_same_bits(on_device.values(stream), values);
    expect_same_bits(state_on_device.values(stream), state);
  }
}

TEST(Update, EveryRuleHasTheBitsOfItsFunctor) {
  at_all_sizes([](std::size_t count, std::size_t shift) {
    check_update(kernels::SgdRule{0.1F}, count, shift);
    check_update(kernels::MomentumRule{0.1F, 0.9F}, count, shift);
    check_update(kernels::NesterovRule{0.1F, 0.9F}, count, shift);
    check_update(kernels::AdagradRule{0.1F, 1e-10F}, count, shift);
    check_update(kernels::AdamRule{0.1F, 0.9F, 0.999F, 1e-8F, 0.1F, 0.001F}, count, shift);
  });
}

}  // namespace
}  // namespace steelyard::test
