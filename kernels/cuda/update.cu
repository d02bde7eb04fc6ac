#include "kernels/cuda/update.hpp"

#include "kernels/cuda/launch.cuh"

namespace steelyard::kernels {
namespace {

template <typename Rule>
struct UpdateBody {
  Rule rule;
  UpdateArrays a;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    constexpr std::size_t kState = kStateOf<Rule>;
    const auto from = load<N>(a.from + i);
    const auto gradient = load<N>(a.gradient + i);
    Pack<float, N> first;
    Pack<float, N> second;
    if constexpr (kState >= 1) first = load<N>(a.state + i);
    if constexpr (kState == 2) second = load<N>(a.state + a.n + i);
    Pack<float, N> to;
    for (std::size_t k = 0; k < N; ++k) {
      if constexpr (kState == 0) to.at[k] = rule(from.at[k], gradient.at[k]);
      if constexpr (kState == 1) to.at[k] = rule(from.at[k], gradient.at[k], first.at[k]);
      if constexpr (kState == 2) to.at[k] = rule(from.at[k], gradient.at[k], first.at[k], second.at[k]);
    }
    if constexpr (kState >= 1) store(a.state + i, first);
    if constexpr (kState == 2) store(a.state + a.n + i, second);
    store(a.to + i, to);
  }
};

template <typename Rule>
void queue_update(const Queue& queue, const Rule& rule, const UpdateArrays& a) {
  const float* const second_state = kStateOf<Rule> == 2 ? a.state + a.n : a.state;
  launch<4>(queue, "update", a.n, UpdateBody<Rule>{rule, a}, a.from, a.gradient, a.to, a.state, second_state);
}

}  // namespace

#define RULE(Rule) \
  void update(const Queue& queue, const Rule& rule, const UpdateArrays& a) { queue_update(queue, rule, a); }
#include "kernels/rules.def"
#undef RULE

}  // namespace steelyard::kernels
