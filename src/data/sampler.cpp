#include "src/data/sampler.hpp"

#include <algorithm>
#include <numeric>

#include "src/base/random.hpp"

namespace steelyard {

Part part_of(std::size_t count, int index, int parts) {
  const auto i = static_cast<std::size_t>(index);
  const auto n = static_cast<std::size_t>(parts);
  return {count * i / n, count * (i + 1) / n};
}

Sampler::Sampler(std::size_t samples, std::size_t global_batch, std::uint64_t seed)
    : global_batch_(global_batch),
      seed_(seed),
      steps_per_epoch_(static_cast<Step>((samples + global_batch - 1) / global_batch)),
      order_(samples) {}

std::size_t Sampler::batch_size(Step step) const {
  const auto begin = static_cast<std::size_t>(step % steps_per_epoch_) * global_batch_;
  return std::min(global_batch_, order_.size() - begin);
}

std::size_t Sampler::largest_slice(int workers) const {
  const auto n = static_cast<std::size_t>(workers);
  return (std::min(global_batch_, order_.size()) + n - 1) / n;
}

std::span<const std::uint32_t> Sampler::slice(Step step, Share share) {
  enter_epoch(step / steps_per_epoch_);
  const auto begin = static_cast<std::size_t>(step % steps_per_epoch_) * global_batch_;
  const Part own = part_of(batch_size(step), share.worker, share.workers);
  return std::span<const std::uint32_t>(order_).subspan(begin + own.begin, own.end - own.begin);
}

void Sampler::enter_epoch(Step epoch) {
  if (epoch == epoch_) return;
  constexpr std::uint64_t kShuffleStream = 1ULL << 40U;  // Apart from the streams of tensors.
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), 0U);
  shuffle(std::span(order_), seed_, kShuffleStream + static_cast<std::uint64_t>(epoch));
}

}  // namespace steelyard
