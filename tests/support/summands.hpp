#pragma once

/// @file
/// Numbers for tests of sums.

#include <cstddef>

#include "src/base/types.hpp"

namespace steelyard::test {

/// Small integers: every order of summation gives the same bits, so comparisons are exact. Sums of 7 ranks
/// fit the bits of fp16.
inline float summand(std::size_t i, Rank rank, int round) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(rank) * 3 + static_cast<std::size_t>(round)) %
                            64);
}

inline float sum_of_summands(std::size_t i, int ranks, int round) {
  float sum = 0.0F;
  for (Rank rank = 0; rank < ranks; ++rank) sum += summand(i, rank, round);
  return sum;
}

}  // namespace steelyard::test
