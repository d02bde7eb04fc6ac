#include "kernels/pool.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/convolution.hpp"

namespace steelyard::kernels {
namespace {

constexpr std::int32_t kNobody = 4;

// Outputs are made in blocks of a fixed size, which become vectors; rows of inputs are padded to whole
// blocks.
constexpr std::size_t kBlock = kRowElements / 2;
static_assert(kBlock == 8);

/// kBlock outputs from two rows of 2 kBlock inputs. Selections instead of branches: which of four neighbours
/// is the greatest cannot be predicted.
void pool_block(const float* upper, const float* lower, float bias, float* out, std::int32_t* winner) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const float a = upper[2 * i];
    const float b = upper[2 * i + 1];
    const float c = lower[2 * i];
    const float d = lower[2 * i + 1];
    const float above = b > a ? b : a;
    const float below = d > c ? d : c;
    const std::int32_t who_above = b > a ? 1 : 0;
    const std::int32_t who_below = d > c ? 3 : 2;
    const float best = (below > above ? below : above) + bias;
    const std::int32_t who = below > above ? who_below : who_above;
    // `best <= 0` is false for a NaN, which must travel on, or a diverged run would look healthy.
    out[i] = best <= 0.0F ? 0.0F : best;
    winner[i] = best <= 0.0F ? kNobody : who;
  }
}

using Floats [[gnu::vector_size(kBlock * sizeof(float))]] = float;
using Integers [[gnu::vector_size(kBlock * sizeof(std::int32_t))]] = std::int32_t;

/// to[2 kBlock] = even[0], odd[0], even[1], odd[1], ...
void interleave(Floats even, Floats odd, float* to) {
  const Floats low = __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11);
  const Floats high = __builtin_shufflevector(even, odd, 4, 12, 5, 13, 6, 14, 7, 15);
  std::memcpy(to, &low, sizeof low);
  std::memcpy(to + kBlock, &high, sizeof high);
}

/// The reverse; adds the gradients that pass to `passed`, column by column.
void unpool_block(Floats gradient, Integers winner, float* upper, float* lower, Floats& passed) {
  const Floats none = {};
  const auto won_by = [&](std::int32_t who) { return winner == who ? gradient : none; };
  const Floats a = won_by(0);
  const Floats b = won_by(1);
  const Floats c = won_by(2);
  const Floats d = won_by(3);
  interleave(a, b, upper);
  interleave(c, d, lower);
  passed += (a + b) + (c + d);
}

/// Calls visit(map, offset of a block's upper inputs, offset of its outputs, how many of them there are).
template <typename Visit>
void for_each_block(const PoolShape& s, std::size_t map, Visit&& visit) {
  const std::size_t outputs = s.width / 2;
  for (std::size_t y = 0; y < s.height / 2; ++y)
    for (std::size_t x = 0; x < outputs; x += kBlock)
      visit((map * s.height + 2 * y) * s.stride + 2 * x, (map * (s.height / 2) + y) * outputs + x,
            std::min(kBlock, outputs - x));
}

}  // namespace

void bias_relu_pool(const PoolShape& s, const float* in, const float* bias, float* out,
                    std::uint8_t* winner) {
  for (std::size_t map = 0; map < s.maps; ++map)
    for_each_block(s, map, [&](std::size_t from, std::size_t to, std::size_t count) {
      float best[kBlock];
      std::int32_t who[kBlock];
      pool_block(in + from, in + from + s.stride, bias[map], best, who);
      std::copy_n(best, count, out + to);
      for (std::size_t i = 0; i < count; ++i) winner[to + i] = static_cast<std::uint8_t>(who[i]);
    });
}

void bias_relu_pool_backward(const PoolShape& s, const float* out_gradient, const std::uint8_t* winner,
                             float* in_gradient, float* bias_gradient) {
  for (std::size_t map = 0; map < s.maps; ++map) {
    Floats passed = {};
    for_each_block(s, map, [&](std::size_t to, std::size_t from, std::size_t count) {
      Floats gradient = {};
      Integers who = Integers{} + kNobody;
      for (std::size_t i = 0; i < count; ++i) {
        gradient[i] = out_gradient[from + i];
        who[i] = winner[from + i];
      }
      unpool_block(gradient, who, in_gradient + to, in_gradient + to + s.stride, passed);
    });
    for (std::size_t i = 0; i < kBlock; ++i) bias_gradient[map] += passed[i];
  }
}

}  // namespace steelyard::kernels
