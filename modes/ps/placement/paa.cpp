#include <algorithm>
#include <numeric>
#include <utility>

#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {
namespace {

class Paa {
 public:
  Paa(const Inventory& inventory, const PlacementOptions& options)
      : inventory_(inventory),
        servers_(options),
        total_(total_bytes(inventory)),
        average_((total_ - 1) / static_cast<std::size_t>(options.servers) + 1),
        small_divisor_(100 * static_cast<Wide>(options.servers)),
        target_(servers_.shares(total_)),
        messages_(target_.size()) {
    if (options.weights.empty() && options.memory.empty()) target_.assign(target_.size(), average_);
  }

  Placed make() {
    for (const std::size_t tensor : largest_first_order(inventory_)) add(static_cast<TensorId>(tensor));
    std::ranges::sort(placed_.shards, {}, [](const Shard& s) { return std::pair(s.tensor, s.begin); });
    return std::move(placed_);
  }

 private:
  void add(TensorId tensor) {
    const std::size_t bytes = inventory_[tensor].bytes();
    const std::size_t elements = inventory_[tensor].elements();
    Cutter cutter(tensor, inventory_[tensor], placed_.shards);
    if (bytes * small_divisor_ <= total_)
      give(cutter, fewest_messages(bytes), elements, bytes / elements);
    else if (bytes <= average_)
      give(cutter, best_fit(bytes), elements, bytes / elements);
    else
      spread(cutter, bytes / elements);
  }

  void give(Cutter& cutter, int server, std::size_t elements, std::size_t element) {
    const std::size_t before = cutter.left();
    cutter.give(server, elements);
    const std::size_t given = before - cutter.left();
    servers_.add(server, given * element);
    messages_[static_cast<std::size_t>(server)] += given > 0 ? 1 : 0;
  }

  /// Fills the least loaded, in their order at the start, up to the average; what fits into one goes by best
  /// fit.
  void spread(Cutter& cutter, std::size_t element) {
    std::vector<int> order(target_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [this](int a, int b) { return servers_.lighter(a, b); });
    for (const int server : order) {
      if (cutter.left() * element <= room(server)) break;
      give(cutter, server, room(server) / element, element);
    }
    if (cutter.left() > 0) give(cutter, best_fit(cutter.left() * element), cutter.left(), element);
  }

  /// Bytes up to the server's part of the average.
  std::size_t room(int server) const {
    const std::size_t target = target_[static_cast<std::size_t>(server)];
    return target - std::min(target, servers_.load(server));
  }

  int fewest_messages(std::size_t bytes) const {
    int best = -1;
    for (int s = 0; s < servers_.count(); ++s)
      if (servers_.room(s) >= bytes && (best < 0 || messages_of(s) < messages_of(best))) best = s;
    return best >= 0 ? best : servers_.least_loaded(bytes);
  }

  int best_fit(std::size_t bytes) const {
    int best = -1;
    for (int s = 0; s < servers_.count(); ++s)
      if (room(s) >= bytes && (best < 0 || room(s) < room(best))) best = s;
    return best >= 0 ? best : servers_.least_loaded(bytes);
  }

  std::size_t messages_of(int server) const { return messages_[static_cast<std::size_t>(server)]; }

  const Inventory& inventory_;
  Servers servers_;
  std::size_t total_;
  std::size_t average_;
  Wide small_divisor_;
  std::vector<std::size_t> target_;    ///< [servers] bytes
  std::vector<std::size_t> messages_;  ///< [servers]
  Placed placed_;
};

}  // namespace

// Peng et al., Optimus (2018), parameter assignment algorithm. With weights the average is each server's
// share.
Expected<Placed> place_paa(const Inventory& inventory, const PlacementOptions& options) {
  return Paa(inventory, options).make();
}

}  // namespace steelyard::ps
