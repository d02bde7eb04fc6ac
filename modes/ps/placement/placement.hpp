#pragma once

/// @file
/// Which server owns which shard. A placement is a pure function: every rank computes the same answer alone.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/model/inventory.hpp"

namespace steelyard::ps {

/// Elements [begin, end) of a tensor, flat and row-major; never empty.
struct Shard {
  TensorId tensor = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  int server = 0;

  std::size_t elements() const { return end - begin; }
  bool operator==(const Shard&) const = default;
};

/// What the strategies may be told. A number that a strategy does not use has no effect on it; the defaults
/// are the published ones.
struct PlacementOptions {
  int servers = 1;
  std::size_t offset = 0;             ///< round_robin: the server of the first tensor.
  std::vector<double> weights{};      ///< [servers] speed or bandwidth, 1e-6 to 1e6; empty: all equal.
  std::vector<std::size_t> memory{};  ///< [servers] bytes, or one number for all; empty: no limit.
  /// Bytes of memory that a server needs for each byte of parameters: values, optimizer state, copies.
  std::size_t memory_copies = 1;
  std::string hash = "djb2";                       ///< hash: djb2 or sdbm; byteps: naive too.
  std::size_t fixed_shards = 0;                    ///< tf_fixed_shards; 0: servers.
  std::size_t min_shard_bytes = 256 * 1024;        ///< tf_min_size
  std::size_t max_shard_bytes = (64U << 20U) - 1;  ///< tf_max_size
  std::size_t max_shards = 0;                      ///< tf_min_size, 0: servers; tf_max_size, 0: no limit.
  std::size_t slice_elements = 40'000;             ///< p3
  std::size_t big_array_elements = 1'000'000;      ///< mxnet: a tensor of so many is cut.
  std::size_t block_elements = 8192;               ///< paddle: no block is smaller.
  std::size_t part_bytes = 4'096'000;              ///< byteps
  /// byteps, mixed mode: so many of the servers, the last ones, share their machine with a worker; 0: off.
  std::size_t mixed_workers = 0;
  std::size_t mixed_bound = 101;  ///< byteps, mixed mode
  std::string rules{};            ///< explicit: the text of the file; explicit.hpp says what it may hold.
  double time_limit_s = 10.0;     ///< optimal: a bound on its work, in seconds of a core of 2020.

  bool operator==(const PlacementOptions&) const = default;
};

/// What `optimal` knows about its answer. Loads are bytes over the server's share of the weights times
/// servers, so with equal weights plain bytes.
struct Optimum {
  double load = 0.0;    ///< Of the fullest server.
  double bound = 0.0;   ///< No placement of whole tensors has less.
  bool proven = false;  ///< The answer is the best there is.
  double gap() const { return bound > 0.0 ? load / bound - 1.0 : 0.0; }
};

struct Placed {
  std::vector<Shard> shards;         ///< Every element exactly once, ordered by tensor and begin.
  std::optional<Optimum> optimum{};  ///< optimal alone.
};

/// One strategy. Errors say which option is wrong and what is allowed. Memory is a wish here: `place` checks.
using Placement = Expected<Placed>(const Inventory& inventory, const PlacementOptions& options);

/// Places by the strategy of that name, `explicit` with or without ":FILE" behind it (the text of the file is
/// in options.rules). Errors: an unknown name, options that do not fit the number of servers, and a server
/// whose memory would not do; that one says the least number of servers that would, where memory and weights
/// are equal.
Expected<Placed> place(std::string_view name, const Inventory& inventory, const PlacementOptions& options);

/// @param name one of placements.def.
Expected<Placement*> find_placement(std::string_view name);
/// Every name of placements.def, in its order.
std::span<const std::string_view> placement_names();
std::string placement_help();

}  // namespace steelyard::ps
