#pragma once

/// @file
/// Which samples make a step's global batch, and which of them are a worker's own.

#include <cstdint>
#include <span>
#include <vector>

#include "src/base/types.hpp"

namespace steelyard {

/// Worker `worker` of `workers`.
struct Share {
  int worker = 0;
  int workers = 1;
};

/// A fresh permutation of the training samples per epoch, from the seed alone: the global batch of a step is
/// the same samples in the same order whatever the mode and the number of workers.
class Sampler {
 public:
  Sampler(std::size_t samples, std::size_t global_batch, std::uint64_t seed);

  Step steps_per_epoch() const { return steps_per_epoch_; }
  /// Size of the global batch of `step`; the last of an epoch may be short.
  std::size_t batch_size(Step step) const;
  /// The caller's part of that batch: indices of samples, possibly none. Valid until the next call.
  /// Steps must not go back to an earlier epoch often: a change of epoch costs O(samples).
  std::span<const std::uint32_t> slice(Step step, Share share);
  /// The largest slice that any worker of `workers` ever gets.
  std::size_t largest_slice(int workers) const;

 private:
  void enter_epoch(Step epoch);

  std::size_t global_batch_;
  std::uint64_t seed_;
  Step steps_per_epoch_;
  Step epoch_ = -1;
  std::vector<std::uint32_t> order_;
};

/// Part `index` of `parts` nearly equal parts of [0, count): [count index / parts, count (index + 1) /
/// parts).
struct Part {
  std::size_t begin;
  std::size_t end;
};
Part part_of(std::size_t count, int index, int parts);

}  // namespace steelyard
