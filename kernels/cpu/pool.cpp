#include "kernels/pool.hpp"

namespace steelyard::kernels {

void bias_relu_pool(const PoolShape& s, const float* in, const float* bias, float* out,
                    std::uint8_t* winner) {
  std::size_t to = 0;
  for (std::size_t map = 0; map < s.maps; ++map)
    for (std::size_t y = 0; y < s.height; y += 2) {
      const float* __restrict upper = in + (map * s.height + y) * s.width;
      const float* __restrict lower = upper + s.width;
      for (std::size_t x = 0; x < s.width; x += 2, ++to) {
        float best = upper[x];
        std::uint8_t who = 0;
        if (upper[x + 1] > best) best = upper[x + 1], who = 1;
        if (lower[x] > best) best = lower[x], who = 2;
        if (lower[x + 1] > best) best = lower[x + 1], who = 3;
        best += bias[map];
        // `best <= 0` is false for a NaN, which must travel on, or a diverged run would look healthy.
        out[to] = best <= 0.0F ? 0.0F : best;
        winner[to] = best <= 0.0F ? std::uint8_t{4} : who;
      }
    }
}

void bias_relu_pool_backward(const PoolShape& s, const float* out_gradient, const std::uint8_t* winner,
                             float* in_gradient, float* bias_gradient) {
  std::size_t from = 0;
  for (std::size_t map = 0; map < s.maps; ++map) {
    float passed = 0.0F;
    for (std::size_t y = 0; y < s.height; y += 2) {
      float* __restrict upper = in_gradient + (map * s.height + y) * s.width;
      float* __restrict lower = upper + s.width;
      for (std::size_t x = 0; x < s.width; x += 2, ++from) {
        const float gradient = winner[from] < 4 ? out_gradient[from] : 0.0F;
        passed += gradient;
        upper[x] = winner[from] == 0 ? gradient : 0.0F;
        upper[x + 1] = winner[from] == 1 ? gradient : 0.0F;
        lower[x] = winner[from] == 2 ? gradient : 0.0F;
        lower[x + 1] = winner[from] == 3 ? gradient : 0.0F;
      }
    }
    bias_gradient[map] += passed;
  }
}

}  // namespace steelyard::kernels
