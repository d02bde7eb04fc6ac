#include <algorithm>
#include <limits>
#include <utility>

#include "modes/ps/placement/wrap.hpp"

namespace steelyard::ps {
namespace {

constexpr double kEven = 1.02;           ///< max/mean that is good enough.
constexpr std::size_t kMostCuts = 4;     ///< Per server, over all tensors.
constexpr std::size_t kFinestGrain = 8;  ///< A piece holds an eighth of a server's mean.
constexpr std::size_t kLarge = 8;        ///< A tensor of an eighth of a server's mean is large, if a
constexpr std::size_t kWorthAMessage = std::size_t{64} << 10U;  ///< server's part of it has so many bytes.

/// One way to cut, the largest tensors first.
class Striped {
 public:
  Striped(const Inventory& inventory, const PlacementOptions& options)
      : inventory_(inventory),
        servers_(options),
        total_(total_bytes(inventory)),
        share_(servers_.shares(total_)),
        order_(largest_first_order(inventory)) {}

  /// The k largest over all servers, the others whole.
  Striped& largest(std::size_t k) {
    for (std::size_t i = 0; i < order_.size(); ++i) i < k ? over_all(order_[i]) : pieces(order_[i], 1);
    return *this;
  }

  /// In pieces of about mean / parts, each on another server; what is large enough, over all.
  Striped& grain(std::size_t parts) {
    for (const std::size_t tensor : order_) {
      const std::size_t count = parts_of(tensor, parts);
      count >= share_.size() ? over_all(tensor) : pieces(tensor, count);
    }
    return *this;
  }

  /// The k largest over all servers, the others wrapped: even whatever the sizes.
  Striped& wrapped(std::size_t k) {
    const std::span<const std::size_t> order(order_);
    const std::size_t large = std::min(k, order.size());
    for (const std::size_t tensor : order.first(large)) over_all(tensor);
    wrap(inventory_, order.subspan(large), total_, servers_, placed_.shards);
    return *this;
  }

  /// Tensors that all servers had better work on at the same time.
  std::size_t large() const {
    const auto is_large = [this](std::size_t tensor) {
      const std::size_t bytes = inventory_[tensor].bytes();
      return static_cast<Wide>(bytes) * share_.size() * kLarge >= total_ &&
             bytes / share_.size() >= kWorthAMessage;
    };
    return static_cast<std::size_t>(std::ranges::find_if_not(order_, is_large) - order_.begin());
  }

  double max_over_mean() const { return fits_ ? servers_.max_over_mean() : kNever; }
  std::size_t cuts() const { return placed_.shards.size() - inventory_.size(); }
  Placed take() {
    std::ranges::sort(placed_.shards, {}, [](const Shard& s) { return std::pair(s.tensor, s.begin); });
    return std::move(placed_);
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// Least number of pieces of at most mean / parts; at least one, at most one for each server.
  std::size_t parts_of(std::size_t tensor, std::size_t parts) const {
    const Wide wanted = static_cast<Wide>(inventory_[tensor].bytes()) * parts * share_.size();
    return static_cast<std::size_t>(std::clamp<Wide>((wanted - 1) / total_ + 1, 1, share_.size()));
  }

  void give(Cutter& cutter, int server, std::size_t elements, std::size_t element) {
    const std::size_t before = cutter.left();
    cutter.give(server, elements);
    servers_.add(server, (before - cutter.left()) * element);
    if (servers_.load(server) > servers_.capacity(server)) fits_ = false;
  }

  /// In proportion to the servers' shares of the model.
  void over_all(std::size_t tensor) {
    const std::size_t elements = inventory_[tensor].elements();
    Cutter cutter(static_cast<TensorId>(tensor), inventory_[tensor], placed_.shards);
    Wide passed = 0;
    for (std::size_t s = 0; s < share_.size(); ++s) {
      passed += share_[s];
      const auto end = static_cast<std::size_t>(elements * passed / total_);
      give(cutter, static_cast<int>(s), end - (elements - cutter.left()), element_bytes(inventory_[tensor]));
    }
  }

  /// Equal pieces, each on the least loaded server that has none yet.
  void pieces(std::size_t tensor, std::size_t count) {
    const std::size_t element = element_bytes(inventory_[tensor]);
    Cutter cutter(static_cast<TensorId>(tensor), inventory_[tensor], placed_.shards);
    std::vector<bool> taken(share_.size());
    for (; count > 0; --count) {
      const std::size_t elements = (cutter.left() + count - 1) / count;
      int best = -1;
      for (int s = 0; s < servers_.count(); ++s)
        if (!taken[static_cast<std::size_t>(s)] && servers_.room(s) >= elements * element &&
            (best < 0 || servers_.lighter(s, best)))
          best = s;
      if (best < 0) best = servers_.least_loaded(elements * element);
      taken[static_cast<std::size_t>(best)] = true;
      give(cutter, best, elements, element);
    }
  }

  const Inventory& inventory_;
  Servers servers_;
  std::size_t total_;
  std::vector<std::size_t> share_;  ///< [servers] bytes
  std::vector<std::size_t> order_;  ///< [tensors] the largest first
  Placed placed_;
  bool fits_ = true;
};

}  // namespace

// Our own; docs/decisions/0010-striped.md says why. Large tensors keep all servers busy at the same time.
Expected<Placed> place_striped(const Inventory& inventory, const PlacementOptions& options) {
  const Striped empty(inventory, options);
  const std::size_t most = kMostCuts * static_cast<std::size_t>(options.servers);
  std::optional<Striped> best;
  // @return whether the search is over.
  const auto consider = [&](Striped candidate) {
    if (candidate.cuts() > most) return false;
    const double uneven = candidate.max_over_mean();
    if (!best || uneven < best->max_over_mean()) best.emplace(std::move(candidate));
    return uneven <= kEven;
  };
  const std::size_t cuts = std::max<std::size_t>(static_cast<std::size_t>(options.servers) - 1, 1);
  const std::size_t most_over_all = std::min(inventory.size(), most / cuts);
  const std::size_t large = std::min(empty.large(), most_over_all);
  for (std::size_t k = large; k <= most_over_all; ++k)
    if (consider(Striped(empty).largest(k))) return best->take();
  for (std::size_t k = large; k-- > 0;)
    if (consider(Striped(empty).largest(k))) return best->take();
  for (std::size_t parts = 1; parts <= kFinestGrain; ++parts)
    if (consider(Striped(empty).grain(parts))) return best->take();
  consider(Striped(empty).wrapped(kMostCuts - 1));  // Wrapping takes the rest of the cuts.
  return best->take();
}

}  // namespace steelyard::ps
