#include <algorithm>
#include <numeric>

#include "modes/ps/placement/packing.hpp"

namespace steelyard::ps {
namespace {

/// Steps of the search that a core of 2020 does in a second, with room to spare for ranks that share it.
constexpr double kStepsPerSecond = 1e7;
/// The search goes down a call for each item.
constexpr std::size_t kMostItemsSearched = 4096;

std::size_t divide_by_gcd(std::vector<std::size_t>& numbers) {
  std::size_t divisor = 0;
  for (const std::size_t number : numbers) divisor = std::gcd(divisor, number);
  for (std::size_t& number : numbers) number /= divisor;
  return divisor;
}

Packing make_packing(const Inventory& inventory, std::span<const std::size_t> order, const Servers& servers) {
  Packing packing;
  for (const std::size_t tensor : order) packing.sizes.push_back(inventory[tensor].bytes());
  packing.unit = divide_by_gcd(packing.sizes);
  packing.total = std::accumulate(packing.sizes.begin(), packing.sizes.end(), std::size_t{0});
  for (int s = 0; s < servers.count(); ++s) {
    packing.weights.push_back(servers.weight(s));
    packing.capacity.push_back(servers.capacity(s) / packing.unit);
  }
  divide_by_gcd(packing.weights);
  if (std::ranges::any_of(packing.weights, [](std::size_t weight) { return weight != 1; }))
    packing.scale = Wide{1} << 24U;
  return packing;
}

/// Bisects between what is known to be impossible and the best found.
class Optimizer {
 public:
  Optimizer(const Packing& packing, double seconds)
      : packing_(packing), steps_(static_cast<std::size_t>(seconds * kStepsPerSecond)) {
    low_ = level_bound(packing);
  }

  void offer(const Assignment& bins) {
    const auto level = level_of(packing_, bins);
    if (!level || (best_ && *level >= level_)) return;
    best_ = bins;
    level_ = *level;
  }

  void search() {
    offer_multifit();
    if (packing_.sizes.size() > kMostItemsSearched) return;
    constexpr std::size_t kPart = 8;
    attempt(low_, steps_ / kPart);  // The bound is often met.
    Wide from = low_ + 1;           // Levels below have been tried.
    bool stuck = false;             // Whether nothing a little better was found, and nothing excluded.
    while (steps_ > 0 && low_ <= highest() && (!stuck || from <= highest())) {
      from = std::max(from, low_);
      if (!stuck)  // Proves small models at once.
        stuck = attempt(highest(), steps_ / kPart + 1) == Search::Answer::unknown;
      if (from > highest()) continue;
      const Wide middle = from + (highest() - from) / 2;
      if (attempt(middle, steps_ / kPart + 1) == Search::Answer::found)
        stuck = false;
      else
        from = middle + 1;
    }
    while (steps_ > 0 && low_ <= highest())
      if (attempt(highest(), steps_) == Search::Answer::unknown) break;
  }

  const std::optional<Assignment>& best() const { return best_; }
  Wide level() const { return level_; }
  Wide low() const { return low_; }

 private:
  /// The highest level that would be better than the best; where there is none, one at which only memory
  /// counts.
  Wide highest() const {
    if (best_) return level_ - 1;
    const auto least = std::ranges::min_element(packing_.weights) - packing_.weights.begin();
    return packing_.level_of(static_cast<std::size_t>(least), packing_.total);
  }

  void offer_multifit() {
    if (low_ > highest()) return;
    if (const auto found = multifit(packing_, low_, highest())) offer(*found);
  }

  Search::Answer attempt(Wide level, std::size_t steps) {
    const std::size_t given = std::min(steps, steps_);
    std::size_t left = given;
    const Search search = complete_bins(packing_.sizes, packing_.rooms(level), left);
    steps_ -= given - left;
    if (search.answer == Search::Answer::found) offer(search.bins);
    if (search.answer == Search::Answer::impossible) low_ = std::max(low_, level + 1);
    return search.answer;
  }

  const Packing& packing_;
  std::size_t steps_;
  Wide low_;  ///< Nothing fits below.
  std::optional<Assignment> best_;
  Wide level_ = 0;  ///< Of the best.
};

/// In bytes, as with the mean weight.
double in_bytes(const Packing& packing, Wide level) {
  const auto weights =
      static_cast<double>(std::accumulate(packing.weights.begin(), packing.weights.end(), Wide{0}));
  return static_cast<double>(level) / static_cast<double>(packing.scale) * static_cast<double>(packing.unit) *
         weights / static_cast<double>(packing.weights.size());
}

}  // namespace

// Largest first and Multifit, then bin completion at levels found by bisection.
Expected<Placed> place_optimal(const Inventory& inventory, const PlacementOptions& options) {
  const std::vector<std::size_t> order = largest_first_order(inventory);
  const Packing packing = make_packing(inventory, order, Servers(options));
  Optimizer optimizer(packing, options.time_limit_s);
  Expected<Placed> start = find_placement("largest_first").value()(inventory, options);
  for (const char* name : {"largest_first", "greedy"}) {
    const Expected<Placed> placed = find_placement(name).value()(inventory, options);
    Assignment bins;
    for (const std::size_t tensor : order) bins.push_back(placed.value().shards[tensor].server);
    optimizer.offer(bins);
  }
  optimizer.search();
  if (!optimizer.best()) return start;  // Too little memory for whole tensors, as far as is known.
  std::vector<int> owner_of(inventory.size());
  for (std::size_t i = 0; i < order.size(); ++i) owner_of[order[i]] = (*optimizer.best())[i];
  Placed placed = whole_tensors(inventory, owner_of);
  const bool proven = optimizer.low() >= optimizer.level();
  placed.optimum = Optimum{in_bytes(packing, optimizer.level()),
                           in_bytes(packing, std::min(optimizer.low(), optimizer.level())), proven};
  return placed;
}

}  // namespace steelyard::ps
