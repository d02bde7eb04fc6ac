#include "tests/bench/support/resident.hpp"

#include <algorithm>

#include "kernels/elementwise.hpp"

namespace steelyard::bench {
namespace {

constexpr std::size_t kLine = kCacheLine / sizeof(float);
constexpr std::size_t kBlock = 2048;  ///< Elements that stay in the first-level cache between two additions.

template <typename News>
bool everywhere(int ranks, std::uint64_t wanted, News&& news) {
  for (Rank rank = 0; rank < ranks; ++rank)
    if (news(rank) < wanted) return false;
  return true;
}

}  // namespace

ResidentSum::ResidentSum(const mpi::Communicator& node, std::size_t elements)
    : rank_(node.rank()), ranks_(node.size()), arenas_(node, elements) {}

bool ResidentSum::test() {
  if (summed_ < started_) {
    if (!everywhere(ranks_, started_, [this](Rank rank) { return arenas_.arrived(rank); })) return false;
    sum_slice();
    arenas_.set_updated(rank_, ++summed_);
  }
  return everywhere(ranks_, started_, [this](Rank rank) { return arenas_.updated(rank); });
}

void ResidentSum::sum_slice() const {
  const auto sums = arenas_.values();
  const std::size_t lines = (sums.size() + kLine - 1) / kLine;
  const auto cut = [&](int part) {
    return std::min(lines * static_cast<std::size_t>(part) / static_cast<std::size_t>(ranks_) * kLine,
                    sums.size());
  };
  for (std::size_t begin = cut(rank_); begin < cut(rank_ + 1); begin += kBlock) {
    const std::size_t count = std::min(kBlock, cut(rank_ + 1) - begin);
    const auto summand = [&](Rank rank) {
      return std::span<const float>(arenas_.gradients(rank).subspan(begin, count));
    };
    const auto target = sums.subspan(begin, count);
    kernels::add(target, summand(0), summand(1));  // A benchmark has at least two ranks.
    for (Rank rank = 2; rank < ranks_; ++rank) kernels::add(target, summand(rank));
  }
}

}  // namespace steelyard::bench
