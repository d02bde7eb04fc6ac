#pragma once

/// @file
/// Statistics without assumptions on the distribution of timings: order statistics and the sign test.

#include <span>
#include <vector>

namespace steelyard::trace {

/// A median and a confidence interval for the population's median.
struct Estimate {
  double median = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Median of `samples` (mean of the middle two); NaN of none.
double median(std::span<const double> samples);
/// The p-quantile by the nearest rank.
double quantile(std::span<const double> samples, double p);

/// Interval between two order statistics whose coverage is at least `confidence` (David and Nagaraja 2003,
/// section 7.1): the k-th smallest and k-th greatest, k the greatest with 2 P(Binomial(n, 1/2) < k) <=
/// 1 - confidence. Where n is too small for any k, -infinity to infinity.
Estimate estimate_median(std::span<const double> samples, double confidence);

/// Two-sided sign test of "the median is `centre`": ties are left out. 1 for no samples.
double sign_test(std::span<const double> samples, double centre);

/// The least number of samples with which the sign test can reach `alpha`.
int samples_needed(double alpha);

/// Holm 1979: for each p-value whether its hypothesis is rejected with a family-wise error of `alpha`.
std::vector<bool> holm_rejects(std::span<const double> p_values, double alpha);

/// For each p-value the level that Holm's procedure tests it at: alpha / m for the least, then alpha / (m -
/// 1)... An interval of confidence 1 - that level excludes the centre if and only if the single test rejects.
std::vector<double> holm_levels(std::span<const double> p_values, double alpha);

}  // namespace steelyard::trace
