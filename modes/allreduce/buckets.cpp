#include "modes/allreduce/buckets.hpp"

namespace steelyard::allreduce {

BucketPlan plan_buckets(const Inventory& inventory, std::size_t first_bucket_bytes,
                        std::size_t bucket_bytes) {
  BucketPlan plan;
  plan.layout.begin.resize(inventory.size());
  plan.bucket_of.resize(inventory.size());
  bool open = false;
  for (std::size_t i = inventory.size(); i-- > 0;) {
    if (!open) plan.buckets.push_back({{}, plan.layout.elements, plan.layout.elements});
    Bucket& bucket = plan.buckets.back();
    bucket.tensors.push_back(static_cast<TensorId>(i));
    plan.bucket_of[i] = plan.buckets.size() - 1;
    plan.layout.begin[i] = bucket.end;
    bucket.end += inventory[i].elements();
    plan.layout.elements = bucket.end;
    const std::size_t limit = plan.buckets.size() == 1 ? first_bucket_bytes : bucket_bytes;
    open = (bucket.end - bucket.begin) * sizeof(float) < limit;
  }
  return plan;
}

}  // namespace steelyard::allreduce
