#include "src/trace/average_precision.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "src/base/check.hpp"

namespace steelyard::trace {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct Judged {
  float score;
  bool relevant;
};

/// Of one tag. @return NaN where nothing is relevant.
double average_precision(std::vector<Judged>& samples) {
  std::ranges::sort(samples, std::greater<>(), &Judged::score);
  double sum = 0.0;
  std::size_t found = 0;
  for (std::size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    std::size_t relevant = 0;
    for (; end < samples.size() && samples[end].score == samples[begin].score; ++end)
      relevant += samples[end].relevant ? 1 : 0;
    found += relevant;
    sum += static_cast<double>(relevant) * static_cast<double>(found) / static_cast<double>(end);
  }
  return found > 0 ? sum / static_cast<double>(found) : kNone;
}

}  // namespace

double mean_average_precision(std::span<const float> scores, std::span<const std::uint16_t> tags,
                              std::size_t classes) {
  require(scores.size() == tags.size() * classes, "average precision: a score for every sample and class");
  if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); })) return kNone;
  std::vector<Judged> samples(tags.size());
  double sum = 0.0;
  std::size_t occurring = 0;
  for (std::size_t tag = 0; tag < classes; ++tag) {
    for (std::size_t i = 0; i < tags.size(); ++i)
      samples[i] = {scores[i * classes + tag], (tags[i] >> tag & 1U) != 0};
    const double one = average_precision(samples);
    if (std::isnan(one)) continue;
    sum += one;
    ++occurring;
  }
  return occurring > 0 ? sum / static_cast<double>(occurring) : kNone;
}

}  // namespace steelyard::trace
