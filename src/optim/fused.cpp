#include "src/optim/fused.hpp"

#include <algorithm>
#include <array>

#include "kernels/elementwise.hpp"
#include "src/base/aligned.hpp"

namespace steelyard {
namespace {

void sum_block(std::span<const float* const> summands, std::size_t begin, std::span<float> target) {
  const auto part = [&](std::size_t i) { return std::span<const float>(summands[i] + begin, target.size()); };
  std::size_t next = 0;
  if (summands[0] + begin == target.data()) {
    next = 1;
  } else if (summands.size() == 1) {
    std::ranges::copy(part(0), target.begin());
    return;
  } else {
    kernels::add(target, part(0), part(1));
    next = 2;
  }
  for (; next < summands.size(); ++next) kernels::add(target, part(next));
}

}  // namespace

void sum(std::span<const float* const> summands, std::span<float> target) {
  for (std::size_t begin = 0; begin < target.size(); begin += kUpdateBlock)
    sum_block(summands, begin, target.subspan(begin, std::min(kUpdateBlock, target.size() - begin)));
}

void apply_sum(const Optimizer& optimizer, std::span<const float* const> gradients, const Update& update) {
  alignas(kCacheLine) std::array<float, kUpdateBlock> scratch;
  const std::size_t per_element = optimizer.state_per_element();
  for (std::size_t begin = 0; begin < update.to.size(); begin += kUpdateBlock) {
    const std::size_t count = std::min(kUpdateBlock, update.to.size() - begin);
    std::span<const float> gradient(gradients[0] + begin, count);
    if (gradients.size() > 1) {
      const std::span<float> block = std::span(scratch).first(count);
      sum_block(gradients, begin, block);
      gradient = block;
    }
    optimizer.apply({update.from.subspan(begin, count), gradient, update.to.subspan(begin, count),
                     update.state.subspan(begin * per_element, count * per_element), update.count,
                     update.rate});
  }
}

}  // namespace steelyard
