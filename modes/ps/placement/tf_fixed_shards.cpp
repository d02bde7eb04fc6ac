#include <algorithm>

#include "modes/ps/placement/rows.hpp"

namespace steelyard::ps {

// TensorFlow's fixed_size_partitioner.
Expected<Placed> place_tf_fixed_shards(const Inventory& inventory, const PlacementOptions& options) {
  const std::size_t shards =
      options.fixed_shards > 0 ? options.fixed_shards : static_cast<std::size_t>(options.servers);
  return cut_rows(inventory, options.servers,
                  [&](const Tensor& tensor) { return std::min(shards, rows_of(tensor)); });
}

}  // namespace steelyard::ps
