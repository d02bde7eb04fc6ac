#include "src/trace/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace steelyard::trace {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::ranges::sort(copy);
  return copy;
}

/// P(Binomial(n, 1/2) = k) by logarithms, so that no n overflows.
double binomial_half(std::size_t n, std::size_t k) {
  const auto lgamma1 = [](std::size_t x) { return std::lgamma(static_cast<double>(x) + 1.0); };
  return std::exp(lgamma1(n) - lgamma1(k) - lgamma1(n - k) - static_cast<double>(n) * std::log(2.0));
}

std::vector<std::size_t> ascending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [values](std::size_t i) { return values[i]; });
  return order;
}

}  // namespace

double median(std::span<const double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto all = sorted(samples);
  const std::size_t half = all.size() / 2;
  return all.size() % 2 == 1 ? all[half] : (all[half - 1] + all[half]) / 2.0;
}

double quantile(std::span<const double> samples, double p) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto all = sorted(samples);
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(all.size())));
  return all[std::clamp<std::size_t>(rank, 1, all.size()) - 1];
}

Estimate estimate_median(std::span<const double> samples, double confidence) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto all = sorted(samples);
  double below = 0.0;  // P(Binomial < k)
  std::size_t k = 0;
  while (k < all.size() / 2) {
    below += binomial_half(all.size(), k);
    // The tolerance forgives the rounding of lgamma where the two sides are equal in exact arithmetic.
    if (2.0 * below > (1.0 - confidence) * (1.0 + 1e-9)) break;
    ++k;
  }
  if (k == 0) return {median(all), -kInfinity, kInfinity};
  return {median(all), all[k - 1], all[all.size() - k]};
}

double sign_test(std::span<const double> samples, double centre) {
  std::size_t above = 0;
  std::size_t n = 0;
  for (const double sample : samples) {
    if (sample > centre) ++above;
    if (sample != centre) ++n;
  }
  const std::size_t rarer = std::min(above, n - above);
  double tail = 0.0;
  for (std::size_t k = 0; k <= rarer && n > 0; ++k) tail += binomial_half(n, k);
  return n == 0 ? 1.0 : std::min(1.0, 2.0 * tail);
}

int samples_needed(double alpha) {
  int n = 1;
  while (std::ldexp(2.0, -n) > alpha * (1.0 + 1e-9)) ++n;
  return n;
}

std::vector<bool> holm_rejects(std::span<const double> p_values, double alpha) {
  std::vector<bool> rejected(p_values.size(), false);
  const auto levels = holm_levels(p_values, alpha);
  for (const std::size_t i : ascending(p_values)) {
    if (p_values[i] > levels[i] * (1.0 + 1e-9)) break;
    rejected[i] = true;
  }
  return rejected;
}

std::vector<double> holm_levels(std::span<const double> p_values, double alpha) {
  std::vector<double> levels(p_values.size());
  std::size_t left = p_values.size();
  for (const std::size_t i : ascending(p_values)) levels[i] = alpha / static_cast<double>(left--);
  return levels;
}

}  // namespace steelyard::trace
