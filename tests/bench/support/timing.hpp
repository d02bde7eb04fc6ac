#pragma once

/// @file
/// Sizes, repetitions, and how figures are written.

#include <array>
#include <cstddef>
#include <string>

#include "src/trace/statistics.hpp"

namespace steelyard::bench {

inline constexpr double kConfidence = 0.95;
inline constexpr double kMicro = 1e6;
inline constexpr double kGiga = 1e9;

/// Payloads, in bytes: 4 KiB to 64 MiB.
inline constexpr std::array<std::size_t, 5> kSizes = {1U << 12U, 1U << 16U, 1U << 20U, 1U << 24U, 1U << 26U};

/// Untimed iterations at the beginning of every round: they touch the memory and set up the connection.
inline constexpr int kWarmup = 2;

/// Timed iterations of a round: few where each is long, so that a round of any size takes a fraction of a
/// second and the contestants alternate faster than the machine's load changes.
int iterations(std::size_t bytes, bool quick);

/// Seconds since some fixed instant.
double now_s();

/// "64 KiB", "16 MiB".
std::string size_text(std::size_t bytes);
/// "1.23 [1.20, 1.27]".
std::string interval_text(const trace::Estimate& estimate);

}  // namespace steelyard::bench
