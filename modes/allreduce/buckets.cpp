#include "modes/allreduce/buckets.hpp"

#include <algorithm>
#include <numeric>

#include "src/base/aligned.hpp"

namespace steelyard::allreduce {
namespace {

// With 10 parts GoogLeNet has some 40 buckets. Below 128 KiB latency begins to count, above DDP's 25 MiB
// nothing is gained.
constexpr std::size_t kParts = 10;
constexpr std::size_t kLeast = std::size_t{128} << 10U;
constexpr std::size_t kMost = std::size_t{25} << 20U;

}  // namespace

BucketPlan plan_buckets(const Inventory& inventory, std::span<const TensorId> order,
                        std::size_t first_bucket_bytes, std::size_t bucket_bytes) {
  BucketPlan plan;
  plan.layout.begin.resize(inventory.size());
  plan.bucket_of.resize(inventory.size());
  std::size_t still_to_come = total_elements(inventory) * sizeof(float);
  bool open = false;
  for (const TensorId i : order) {
    if (!open) plan.buckets.push_back({{}, plan.layout.elements, plan.layout.elements});
    Bucket& bucket = plan.buckets.back();
    bucket.tensors.push_back(i);
    plan.bucket_of[i] = plan.buckets.size() - 1;
    plan.layout.begin[i] = bucket.end;
    bucket.end += inventory[i].elements();
    plan.layout.elements = bucket.end;
    still_to_come -= inventory[i].bytes();
    const std::size_t most = plan.buckets.size() == 1 ? first_bucket_bytes : bucket_bytes;
    const std::size_t limit = most > 0 ? most : std::clamp(still_to_come / kParts, kLeast, kMost);
    open = (bucket.end - bucket.begin) * sizeof(float) < limit;
  }
  return plan;
}

BucketPlan plan_buckets(const Inventory& inventory, std::size_t first_bucket_bytes,
                        std::size_t bucket_bytes) {
  std::vector<TensorId> order(inventory.size());
  std::iota(order.rbegin(), order.rend(), TensorId{0});
  return plan_buckets(inventory, order, first_bucket_bytes, bucket_bytes);
}

BucketPlan in_whole_lines(BucketPlan plan, const Inventory& inventory) {
  std::size_t end = 0;
  for (Bucket& bucket : plan.buckets) {
    bucket.begin = end;
    for (const TensorId tensor : bucket.tensors) {
      plan.layout.begin[tensor] = end;
      end += whole_lines<float>(inventory[tensor].elements());
    }
    bucket.end = end;
  }
  plan.layout.elements = end;
  return plan;
}

}  // namespace steelyard::allreduce
