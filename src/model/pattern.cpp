#include "src/model/pattern.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "src/base/check.hpp"
#include "src/base/random.hpp"

namespace steelyard {
namespace {

/// Whether all `count` elements are the same bits; no early end, so that it runs in vectors.
bool same(const float* a, const float* b, std::size_t count) {
  std::uint32_t differences = 0;
  for (std::size_t i = 0; i < count; ++i)
    differences |= std::bit_cast<std::uint32_t>(a[i]) ^ std::bit_cast<std::uint32_t>(b[i]);
  return differences == 0;
}

std::optional<std::size_t> first_difference(const float* a, const float* b, std::size_t count) {
  if (same(a, b, count)) return std::nullopt;
  std::size_t i = 0;
  while (same(a + i, b + i, 1)) ++i;
  return i;
}

}  // namespace

int Pattern::base(int worker, std::size_t element_class) {
  const auto mixed =
      element_class * (2 * static_cast<std::size_t>(worker) + 3) + static_cast<std::size_t>(worker);
  return 1 + static_cast<int>(mixed % kLargestBase);
}

int Pattern::amplitude(Step step) {
  const std::uint64_t bits = mix(static_cast<std::uint64_t>(step));
  const int size = 1 + static_cast<int>(bits % kLargestAmplitude);
  return (bits >> 32U) % 2 == 0 ? size : -size;
}

std::vector<float> Pattern::own_table(int worker) {
  std::vector<float> table(kClasses);
  for (std::size_t i = 0; i < kClasses; ++i) table[i] = static_cast<float>(base(worker, i));
  return table;
}

std::vector<float> Pattern::sum_table(int workers) {
  std::vector<float> table(kClasses);
  for (int worker = 0; worker < workers; ++worker)
    std::ranges::transform(table, own_table(worker), table.begin(), std::plus{});
  return table;
}

Pattern::Pattern(int worker, int workers, std::unique_ptr<Optimizer> optimizer)
    : optimizer_(std::move(optimizer)),
      own_(own_table(worker)),
      all_(sum_table(workers)),
      state_(kClasses * optimizer_->state_per_element()),
      sum_(kClasses),
      values_(kCopies * kClasses),
      gradients_(kCopies * kClasses) {
  require(workers <= most_workers(), "replay: too many workers for exact sums");
  const auto now = static_cast<float>(amplitude(step_));
  std::ranges::transform(own_, gradients_.begin(), [now](float one) { return one * now; });
  repeat(gradients_);
}

void Pattern::repeat(std::span<float> table) {
  for (std::size_t copy = 1; copy < kCopies; ++copy)
    std::copy_n(table.begin(), kClasses, table.begin() + static_cast<std::ptrdiff_t>(copy * kClasses));
}

void Pattern::fill(TensorId tensor, std::span<float> gradient) const {
  for (std::size_t done = 0; done < gradient.size();) {
    const std::size_t begin = class_of(tensor, done);
    const std::size_t count = std::min(gradient.size() - done, gradients_.size() - begin);
    std::memcpy(gradient.data() + done, gradients_.data() + begin, count * sizeof(float));
    done += count;
  }
}

void Pattern::advance() {
  const auto now = static_cast<float>(amplitude(step_));
  std::ranges::transform(all_, sum_.begin(), [now](float one) { return one * now; });
  const std::span<float> values(values_.data(), kClasses);
  optimizer_->apply({values, sum_, values, state_, step_ + 1});
  repeat(values_);
  ++step_;
  const auto next = static_cast<float>(amplitude(step_));
  std::ranges::transform(own_, gradients_.begin(), [next](float one) { return one * next; });
  repeat(gradients_);
}

std::optional<std::size_t> Pattern::first_wrong(TensorId tensor, std::span<const float> values) const {
  for (std::size_t done = 0; done < values.size();) {
    const std::size_t begin = class_of(tensor, done);
    const std::size_t count = std::min(values.size() - done, values_.size() - begin);
    if (const auto wrong = first_difference(values.data() + done, values_.data() + begin, count))
      return done + *wrong;
    done += count;
  }
  return std::nullopt;
}

float Pattern::expected(TensorId tensor, std::size_t element) const {
  return values_[class_of(tensor, element)];
}

std::optional<std::size_t> Pattern::first_uneven(std::span<const float> piece) {
  if (piece.size() <= kClasses) return std::nullopt;
  const auto wrong = first_difference(piece.data() + kClasses, piece.data(), piece.size() - kClasses);
  return wrong ? std::optional(*wrong + kClasses) : std::nullopt;
}

}  // namespace steelyard
