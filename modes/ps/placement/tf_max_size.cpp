#include <algorithm>

#include "modes/ps/placement/rows.hpp"

namespace steelyard::ps {

// TensorFlow's variable_axis_size_partitioner; MaxSizePartitioner of its ParameterServerStrategy.
Expected<Placed> place_tf_max_size(const Inventory& inventory, const PlacementOptions& options) {
  return cut_rows(inventory, options.servers, [&](const Tensor& tensor) {
    const std::size_t rows = rows_of(tensor);
    const std::size_t rows_of_part =
        std::max<std::size_t>(1, options.max_shard_bytes / (tensor.bytes() / rows));
    const std::size_t parts = (rows - 1) / rows_of_part + 1;
    return options.max_shards > 0 ? std::min(parts, options.max_shards) : parts;
  });
}

}  // namespace steelyard::ps
