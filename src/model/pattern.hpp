#pragma once

/// @file
/// Gradients that prove what arrived. Every element belongs to one of 251 classes, by its position; gradients
/// are small whole numbers that depend on worker, step and class. Their sums over workers are exact in any
/// order, so every element of a class has the same history under any elementwise optimizer, and a table of
/// 251 elements says what each value must be, bit for bit.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "src/base/types.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {

class Pattern {
 public:
  static constexpr std::size_t kClasses = 251;  ///< A prime: no cut of a tensor falls in step with it.

  /// @param optimizer that the servers or the workers apply.
  Pattern(int worker, int workers, std::unique_ptr<Optimizer> optimizer);

  /// The largest number of workers whose sums are exact in a type of that many significant bits.
  static constexpr int most_workers(int bits = 24) {
    return (1 << bits) / (kLargestBase * kLargestAmplitude);
  }

  /// [classes] gradients at amplitude 1: of one worker, and summed over workers 0 to workers - 1.
  static std::vector<float> own_table(int worker);
  static std::vector<float> sum_table(int workers);
  /// Of the gradients of a step.
  static int amplitude(Step step);
  static std::size_t class_of(TensorId tensor, std::size_t element) {
    return (37 * tensor + element) % kClasses;
  }

  /// Writes this worker's gradient of the present step. @param gradient [elements] of the whole tensor.
  void fill(TensorId tensor, std::span<float> gradient) const;
  /// Goes on to the next step: from now on values must be those after the update by all workers.
  void advance();

  /// @return the first element of `values` (a whole tensor) that is not what it must be.
  std::optional<std::size_t> first_wrong(TensorId tensor, std::span<const float> values) const;
  float expected(TensorId tensor, std::size_t element) const;
  /// Where the history is unknown (asp): the first element of a piece that differs from another of its class,
  /// so that a reply which mixes versions, or lies in the wrong place, is found all the same.
  static std::optional<std::size_t> first_uneven(std::span<const float> piece);

 private:
  static constexpr int kLargestBase = 7;
  static constexpr int kLargestAmplitude = 8;
  static constexpr std::size_t kCopies = 17;  ///< Of a table behind each other: long runs compare fast.

  static int base(int worker, std::size_t element_class);
  static void repeat(std::span<float> table);

  std::unique_ptr<Optimizer> optimizer_;
  Step step_ = 0;
  std::vector<float> own_;        ///< [classes] this worker's gradient at amplitude 1.
  std::vector<float> all_;        ///< [classes] the sum over workers.
  std::vector<float> state_;      ///< [classes x state]
  std::vector<float> sum_;        ///< [classes] scratch.
  std::vector<float> values_;     ///< [copies x classes] what values must be now.
  std::vector<float> gradients_;  ///< [copies x classes] this worker's of the present step.
};

}  // namespace steelyard
