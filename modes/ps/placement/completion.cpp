#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "modes/ps/placement/packing.hpp"

namespace steelyard::ps {
namespace {

class Completion {
 public:
  Completion(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& rooms, std::size_t& steps)
      : sizes_(sizes),
        rooms_(rooms),
        steps_(steps),
        order_(rooms.size()),
        bins_(sizes.size()),
        next_(sizes.size() + 1),
        before_(sizes.size() + 1),
        suffix_(rooms.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, std::greater{}, [&](std::size_t bin) { return rooms[bin]; });
    const std::size_t ring = next_.size();  // The last stands for the ends of the list.
    for (std::size_t i = 0; i < ring; ++i) {
      next_[i] = (i + 1) % ring;
      before_[i] = (i + ring - 1) % ring;
    }
  }

  Search run() {
    const Wide room = std::accumulate(rooms_.begin(), rooms_.end(), Wide{0});
    const Wide size = std::accumulate(sizes_.begin(), sizes_.end(), Wide{0});
    if (room < size) return {Search::Answer::impossible, {}};
    if (open_bin(0, room - size)) return {Search::Answer::found, bins_};
    return {steps_ == 0 ? Search::Answer::unknown : Search::Answer::impossible, {}};
  }

 private:
  std::size_t end() const { return sizes_.size(); }
  std::size_t first() const { return next_[end()]; }

  bool spend(std::size_t steps) {
    steps_ -= std::min(steps_, steps);
    return steps_ > 0;
  }

  /// @param slack room that this bin and those after it may leave. @return whether all items are placed.
  bool open_bin(std::size_t bin, Wide slack) {
    if (first() == end()) return true;
    if (bin == order_.size() || sizes_[first()] > rooms_[order_[bin]]) return false;
    std::vector<std::size_t>& suffix = suffix_[bin];
    suffix.resize(sizes_.size() + 1);
    suffix[end()] = 0;
    std::size_t count = 0;
    for (std::size_t i = before_[end()], after = end(); i != end(); after = i, i = before_[i], ++count)
      suffix[i] = suffix[after] + sizes_[i];
    if (!spend(1 + count / 8)) return false;
    const Fill fill{bin, rooms_[order_[bin]], slack, std::numeric_limits<std::size_t>::max()};
    // Bins that are all alike: the largest item may as well be in this one.
    if (rooms_[order_[bin]] == rooms_[order_.back()]) return take(fill, first());
    return choose(fill, first());
  }

  /// A bin that is being filled.
  struct Fill {
    std::size_t bin;
    std::size_t room;      ///< Left.
    Wide slack;            ///< That may be left here and after.
    std::size_t left_out;  ///< The smallest item that would have fitted: in the end it must not.
  };

  /// Decides on the items from `i`, a free one, on.
  bool choose(Fill fill, std::size_t i) {
    for (;;) {
      if (!spend(1)) return false;
      while (i != end() && sizes_[i] > fill.room) i = next_[i];
      // What the bin must still take at least, or too much room is left, here or for an item left out.
      const Wide most_left = std::min<Wide>(fill.slack, fill.left_out - Wide{1});
      if (fill.room > most_left + suffix_[fill.bin][i]) return false;
      if (i == end()) return open_bin(fill.bin + 1, fill.slack - fill.room);
      if (take(fill, i)) return true;
      fill.left_out = sizes_[i];
      while (i != end() && sizes_[i] == fill.left_out) i = next_[i];
    }
  }

  bool take(const Fill& fill, std::size_t i) {
    next_[before_[i]] = next_[i];
    before_[next_[i]] = before_[i];
    bins_[i] = static_cast<int>(order_[fill.bin]);
    if (choose({fill.bin, fill.room - sizes_[i], fill.slack, fill.left_out}, next_[i])) return true;
    next_[before_[i]] = i;
    before_[next_[i]] = i;
    return false;
  }

  const std::vector<std::size_t>& sizes_;
  const std::vector<std::size_t>& rooms_;
  std::size_t& steps_;
  std::vector<std::size_t> order_;  ///< [bins] the roomiest first.
  Assignment bins_;
  std::vector<std::size_t> next_;  ///< List of the free items.
  std::vector<std::size_t> before_;
  /// [bins, items] sum of the items from there on that were free when the bin was opened.
  std::vector<std::vector<std::size_t>> suffix_;
};

}  // namespace

Search complete_bins(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& rooms,
                     std::size_t& steps) {
  return Completion(sizes, rooms, steps).run();
}

}  // namespace steelyard::ps
