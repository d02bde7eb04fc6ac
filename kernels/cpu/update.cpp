#include "kernels/cpu/update.hpp"

namespace steelyard::kernels {
namespace {

/// Both by value: what the loop writes cannot be a part of them.
template <typename Rule>
void over_arrays(const Rule rule, const UpdateArrays a) {
  if constexpr (kStateOf<Rule> == 0) {
    STEELYARD_INDEPENDENT
    for (std::size_t i = 0; i < a.n; ++i) a.to[i] = rule(a.from[i], a.gradient[i]);
  } else if constexpr (kStateOf<Rule> == 1) {
    STEELYARD_INDEPENDENT
    for (std::size_t i = 0; i < a.n; ++i) {
      float kept = a.state[i];
      a.to[i] = rule(a.from[i], a.gradient[i], kept);
      a.state[i] = kept;
    }
  } else {
    float* const second_state = a.state + a.n;
    STEELYARD_INDEPENDENT
    for (std::size_t i = 0; i < a.n; ++i) {
      float first = a.state[i];
      float second = second_state[i];
      a.to[i] = rule(a.from[i], a.gradient[i], first, second);
      a.state[i] = first;
      second_state[i] = second;
    }
  }
}

}  // namespace

#define RULE(Rule) \
  void update(const Rule& rule, const UpdateArrays& arrays) { over_arrays(rule, arrays); }
#include "kernels/rules.def"
#undef RULE

}  // namespace steelyard::kernels
