#pragma once

/// @file
/// How full each server is. Integers alone, so that every build compares alike: weights count in millionths.

#include <span>
#include <vector>

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

__extension__ using Wide = unsigned __int128;

/// Bytes of one element of a tensor.
inline std::size_t element_bytes(const Tensor& tensor) { return tensor.bytes() / tensor.elements(); }
std::size_t total_bytes(const Inventory& inventory);

/// Positions of the tensors, the largest first, creation order among equals.
std::vector<std::size_t> largest_first_order(const Inventory& inventory);

/// One shard per tensor, tensor i on owner_of[i].
Placed whole_tensors(const Inventory& inventory, std::span<const int> owner_of);

/// [servers] bytes that the shards give each.
std::vector<std::size_t> server_bytes(const Inventory& inventory, std::span<const Shard> shards, int servers);

/// What each server bears: bytes, its weight, and how many bytes its memory holds.
class Servers {
 public:
  /// @param options that `place` has checked.
  explicit Servers(const PlacementOptions& options);

  int count() const { return static_cast<int>(load_.size()); }
  std::size_t load(int server) const { return load_[index(server)]; }
  std::size_t weight(int server) const { return weight_[index(server)]; }
  std::size_t capacity(int server) const { return capacity_[index(server)]; }
  /// Bytes that still fit into its memory.
  std::size_t room(int server) const;
  void add(int server, std::size_t bytes) { load_[index(server)] += bytes; }

  /// Whether `a` has less load than `b` for its weight.
  bool lighter(int a, int b) const {
    return static_cast<Wide>(load(a)) * weight(b) < static_cast<Wide>(load(b)) * weight(a);
  }
  /// The least loaded of those with room for `bytes`, the lowest of equals; of all if none has.
  int least_loaded(std::size_t bytes) const;

  /// @return [servers] `total` in proportion to the weights, none above its capacity unless all are full.
  std::vector<std::size_t> shares(std::size_t total) const;
  /// The greatest load for its weight, over the mean. 1.0 if nothing is placed.
  double max_over_mean() const;

 private:
  static std::size_t index(int server) { return static_cast<std::size_t>(server); }
  int lightest(std::size_t bytes, bool with_room) const;

  std::vector<std::size_t> weight_;    ///< [servers] millionths
  std::vector<std::size_t> capacity_;  ///< [servers] bytes of parameters
  std::vector<std::size_t> load_;      ///< [servers]
};

/// max/mean of the bytes of a placement, each server's over its weight.
double max_over_mean(const Inventory& inventory, std::span<const Shard> shards,
                     const PlacementOptions& options);

/// Of a placement: half a gigabyte of memory.
inline constexpr std::size_t kMostShards = std::size_t{1} << 24U;

/// Cuts a tensor into shards one behind the other.
class Cutter {
 public:
  Cutter(TensorId tensor, const Tensor& what, std::vector<Shard>& shards)
      : tensor_(tensor), elements_(what.elements()), shards_(shards) {}

  std::size_t left() const { return elements_ - next_; }
  /// At most so many elements for that server; none makes no shard. After kMostShards the rest of the tensor
  /// is dropped, for `place` to refuse the whole.
  void give(int server, std::size_t elements);

 private:
  TensorId tensor_;
  std::size_t elements_;
  std::vector<Shard>& shards_;
  std::size_t next_ = 0;
};

/// A counter modulo the servers that one placement shares over all it places.
class Cursor {
 public:
  explicit Cursor(int servers) : servers_(servers) {}
  int next() {
    const int server = next_;
    next_ = (next_ + 1) % servers_;
    return server;
  }

 private:
  int servers_;
  int next_ = 0;
};

}  // namespace steelyard::ps
