#include "modes/ps/placement/packing.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace steelyard::ps {
namespace {

/// Of bins that are all alike: the least number of them that L2 admits exceeds what there is.
bool too_many_by_l2(const Packing& p, std::size_t room, const std::vector<std::size_t>& prefix) {
  const auto at_least = [&p](std::size_t size) {  // Items of that size or more.
    return static_cast<std::size_t>(std::ranges::upper_bound(p.sizes, size, std::greater_equal{}) -
                                    p.sizes.begin());
  };
  const std::size_t halves = at_least(room / 2 + 1);
  for (std::size_t i = halves; i <= p.sizes.size(); ++i) {
    // Small items are those from `least` to half the room; i == size: none.
    const std::size_t least = i < p.sizes.size() ? p.sizes[i] : 0;
    if (i > halves && i < p.sizes.size() && p.sizes[i] == p.sizes[i - 1]) continue;
    const std::size_t alone = least == 0 ? 0 : at_least(room - least + 1);
    const std::size_t end = least == 0 ? halves : at_least(least);
    const Wide small = prefix[end] - prefix[halves];
    const Wide beside = static_cast<Wide>(halves - alone) * room - (prefix[halves] - prefix[alone]);
    const Wide more = small > beside ? (small - beside - 1) / room + 1 : 0;
    if (halves + more > p.weights.size()) return true;
  }
  return false;
}

bool cannot_fit(const Packing& p, Wide level, const std::vector<std::size_t>& prefix) {
  const std::vector<std::size_t> rooms = p.rooms(level);
  Wide sum = 0;
  for (const std::size_t room : rooms) sum += room;
  const std::size_t most = std::ranges::max(rooms);
  if (sum < p.total || most < p.sizes.front()) return true;
  return most == std::ranges::min(rooms) && too_many_by_l2(p, most, prefix);
}

/// First fit of the items in their order, into the bins in theirs.
std::optional<Assignment> first_fit(const Packing& p, const std::vector<std::size_t>& order,
                                    std::vector<std::size_t> rooms) {
  Assignment bins;
  for (const std::size_t size : p.sizes) {
    const auto bin = std::ranges::find_if(order, [&](std::size_t b) { return rooms[b] >= size; });
    if (bin == order.end()) return std::nullopt;
    rooms[*bin] -= size;
    bins.push_back(static_cast<int>(*bin));
  }
  return bins;
}

}  // namespace

std::size_t Packing::room(std::size_t bin, Wide level) const {
  const Wide room = level * weights[bin] / scale;
  return static_cast<std::size_t>(std::min<Wide>(room, std::min(capacity[bin], total)));
}

std::vector<std::size_t> Packing::rooms(Wide level) const {
  std::vector<std::size_t> all(weights.size());
  for (std::size_t bin = 0; bin < all.size(); ++bin) all[bin] = room(bin, level);
  return all;
}

Wide Packing::level_of(std::size_t bin, std::size_t load) const {
  return (load * scale + weights[bin] - 1) / weights[bin];
}

std::optional<Wide> level_of(const Packing& packing, const Assignment& bins) {
  std::vector<std::size_t> load(packing.weights.size());
  for (std::size_t i = 0; i < bins.size(); ++i) load[static_cast<std::size_t>(bins[i])] += packing.sizes[i];
  Wide level = 0;
  for (std::size_t bin = 0; bin < load.size(); ++bin) {
    if (load[bin] > packing.capacity[bin]) return std::nullopt;
    level = std::max(level, packing.level_of(bin, load[bin]));
  }
  return level;
}

Wide level_bound(const Packing& packing) {
  std::vector<std::size_t> prefix(packing.sizes.size() + 1);
  std::partial_sum(packing.sizes.begin(), packing.sizes.end(), prefix.begin() + 1);
  Wide low = 0;  // Nothing fits at that.
  Wide high = packing.level_of(
      static_cast<std::size_t>(std::ranges::min_element(packing.weights) - packing.weights.begin()),
      packing.total);
  while (low + 1 < high) {
    const Wide middle = low + (high - low) / 2;
    (cannot_fit(packing, middle, prefix) ? low : high) = middle;
  }
  Wide bound = high;
  // Of k bins' worth and one more of the largest, some bin has k + 1.
  const std::size_t bins = packing.weights.size();
  if (packing.scale == 1)
    for (std::size_t k = 1; k * bins < packing.sizes.size(); ++k)
      bound = std::max<Wide>(bound, prefix[k * bins + 1] - prefix[k * bins - k]);
  return bound;
}

std::optional<Assignment> multifit(const Packing& packing, Wide low, Wide high) {
  std::vector<std::size_t> order(packing.weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t bin) { return packing.weights[bin]; });
  std::optional<Assignment> best;
  for (int rounds = 0; rounds < 40 && low <= high; ++rounds) {
    const Wide middle = low + (high - low) / 2;
    auto found = first_fit(packing, order, packing.rooms(middle));
    if (found) {
      best = std::move(found);
      if (middle == 0) break;
      high = middle - 1;
    } else {
      low = middle + 1;
    }
  }
  return best;
}

}  // namespace steelyard::ps
