#include <algorithm>

#include "modes/ps/placement/placement.hpp"
#include "src/base/catalog.hpp"

namespace steelyard::ps {

#define PLACEMENT(name, help) Placement place_##name;
#include "modes/ps/placement/placements.def"
#undef PLACEMENT

namespace {
constexpr Choice<Placement> kRows[] = {
#define PLACEMENT(name, help) {#name, help, place_##name},
#include "modes/ps/placement/placements.def"
#undef PLACEMENT
};
}  // namespace

Expected<Placement*> find_placement(std::string_view name) {
  return choose<Placement>("placement", kRows, name);
}

std::string placement_help() { return help<Placement>(kRows); }

std::vector<Shard> whole_tensors(const Inventory& inventory, std::span<const int> owner_of) {
  std::vector<Shard> shards;
  for (TensorId id = 0; id < inventory.size(); ++id)
    shards.push_back({id, 0, inventory[id].elements(), owner_of[id]});
  return shards;
}

std::vector<int> least_loaded(const Inventory& inventory, std::span<const std::size_t> order, int servers) {
  std::vector<std::size_t> load(static_cast<std::size_t>(servers));
  std::vector<int> owner_of(inventory.size());
  for (const std::size_t tensor : order) {
    const auto lightest = std::ranges::min_element(load);
    *lightest += inventory[tensor].bytes();
    owner_of[tensor] = static_cast<int>(lightest - load.begin());
  }
  return owner_of;
}

}  // namespace steelyard::ps
