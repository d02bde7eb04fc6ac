#pragma once

/// @file
/// What gradients of each staleness have been good for on one bundle.

#include <array>
#include <cstdint>
#include <span>

#include "modes/ps/staleness/staleness.hpp"
#include "src/base/aligned.hpp"

namespace steelyard::ps {

/// Running means, each new value with a weight of a tenth. Gradients are compared with the mean of those
/// before them, so one alone has no influence on its own worth.
class Experience {
 public:
  Experience() = default;
  explicit Experience(std::size_t elements) : mean_(elements) {}

  /// Takes a gradient into account that has arrived, applied or not. @return what is known of its like.
  Worth observe(std::int64_t staleness, double age_s, std::span<const float> gradient);

 private:
  static constexpr std::size_t kClasses = 64;  ///< The last one holds all that are staler.
  struct Class {
    double cosine = 0.0;
    double square = 0.0;  ///< Of the cosine.
    std::uint64_t count = 0;
  };

  AlignedArray<float> mean_;
  std::array<Class, kClasses> classes_{};
  Class usual_;  ///< Of all.
  double age_s_ = 0.0;
  std::uint64_t count_ = 0;
};

}  // namespace steelyard::ps
