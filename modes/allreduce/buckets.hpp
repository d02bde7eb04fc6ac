#pragma once

/// @file
/// Which gradients travel together in one allreduce.

#include <span>
#include <vector>

#include "src/model/inventory.hpp"

namespace steelyard::allreduce {

/// A contiguous run [begin, end) of the arena.
struct Bucket {
  std::vector<TensorId> tensors;
  std::size_t begin = 0;
  std::size_t end = 0;
};
inline std::size_t elements(const Bucket& bucket) { return bucket.end - bucket.begin; }

struct BucketPlan {
  std::vector<Bucket> buckets;         ///< In the order in which they start.
  std::vector<std::size_t> bucket_of;  ///< [tensors]
  Layout layout;
};

/// PyTorch DDP's rule (Li et al. 2020): walk the tensors in the order in which backward makes them ready;
/// add, and close the bucket when its bytes reach the limit. The first limit is small so that communication
/// begins early. A limit of 0 is a tenth of the bytes still to come, from 128 KiB to 25 MiB: backward makes
/// the gradients last that forward needs first, so what is left of them at its end must be small, and shares
/// the network with larger buckets.
/// @param order [tensors] a permutation.
BucketPlan plan_buckets(const Inventory& inventory, std::span<const TensorId> order,
                        std::size_t first_bucket_bytes, std::size_t bucket_bytes);
/// In reverse creation order: what can be known before backward has run.
BucketPlan plan_buckets(const Inventory& inventory, std::size_t first_bucket_bytes, std::size_t bucket_bytes);

/// The same buckets with every tensor on a cache line of its own, and buckets of whole lines, so that a
/// GPU's kernels move 16 bytes at a time. The gaps hold zeros.
BucketPlan in_whole_lines(BucketPlan plan, const Inventory& inventory);

}  // namespace steelyard::allreduce
