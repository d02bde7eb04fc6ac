#include "modes/ps/staleness/experience.hpp"

#include <algorithm>
#include <cmath>

namespace steelyard::ps {
namespace {

constexpr double kNew = 0.1;           ///< Weight of a new value in a running mean.
constexpr std::uint64_t kEnough = 10;  ///< Values before a mean says something.

double blend(double mean, double value, std::uint64_t count) {
  return count == 0 ? value : mean + kNew * (value - mean);
}

/// Of a running mean of independent values: their variance times the sum of the squares of the weights.
double error(double mean, double mean_square) {
  return std::sqrt(std::max(mean_square - mean * mean, 0.0) * kNew / (2.0 - kNew));
}

}  // namespace

Worth Experience::observe(std::int64_t staleness, double age_s, std::span<const float> gradient) {
  double dot = 0.0;
  double gradient_square = 0.0;
  double mean_square = 0.0;
  const std::span<float> mean = mean_.span();
  const float weight = count_ == 0 ? 1.0F : static_cast<float>(kNew);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double g = gradient[i];
    const double m = mean[i];
    dot += g * m;
    gradient_square += g * g;
    mean_square += m * m;
    mean[i] += weight * (gradient[i] - mean[i]);
  }
  const double norm = std::sqrt(gradient_square * mean_square);
  Class& own = classes_[std::min(static_cast<std::size_t>(staleness), kClasses - 1)];
  if (count_ > 0 && norm > 0.0) {
    const double cosine = dot / norm;
    for (Class* const one : {&own, &usual_}) {
      one->cosine = blend(one->cosine, cosine, one->count);
      one->square = blend(one->square, cosine * cosine, one->count);
      ++one->count;
    }
  }
  age_s_ = blend(age_s_, age_s, count_);
  ++count_;
  return {own.cosine, error(own.cosine, own.square), usual_.cosine, age_s_, own.count >= kEnough};
}

}  // namespace steelyard::ps
