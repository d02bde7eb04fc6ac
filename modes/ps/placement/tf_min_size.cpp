#include <algorithm>

#include "modes/ps/placement/rows.hpp"

namespace steelyard::ps {

// TensorFlow's min_max_variable_partitioner; MinSizePartitioner of its ParameterServerStrategy.
Expected<Placed> place_tf_min_size(const Inventory& inventory, const PlacementOptions& options) {
  const std::size_t most =
      options.max_shards > 0 ? options.max_shards : static_cast<std::size_t>(options.servers);
  return cut_rows(inventory, options.servers, [&](const Tensor& tensor) {
    const std::size_t wanted = (tensor.bytes() - 1) / options.min_shard_bytes + 1;
    return std::max<std::size_t>(1, std::min({rows_of(tensor), most, wanted}));
  });
}

}  // namespace steelyard::ps
