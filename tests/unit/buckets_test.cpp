#include "modes/allreduce/buckets.hpp"

#include <gtest/gtest.h>

#include "modes/allreduce/full_buckets.hpp"
#include "src/base/aligned.hpp"
#include "src/model/model.hpp"

namespace steelyard::allreduce {
namespace {

TEST(Buckets, FollowDdpsRule) {
  // Bytes: 400, 40, 4000, 400 in creation order; walked in reverse.
  const Inventory inventory = {{"a", {100}}, {"b", {10}}, {"c", {1000}}, {"d", {100}}};
  const BucketPlan plan = plan_buckets(inventory, 400, 4000);
  ASSERT_EQ(plan.buckets.size(), 3U);
  EXPECT_EQ(plan.buckets[0].tensors, (std::vector<TensorId>{3}));     // 400 reaches the first limit.
  EXPECT_EQ(plan.buckets[1].tensors, (std::vector<TensorId>{2}));     // 4000 reaches the second.
  EXPECT_EQ(plan.buckets[2].tensors, (std::vector<TensorId>{1, 0}));  // What is left.
  EXPECT_EQ(plan.bucket_of, (std::vector<std::size_t>{2, 2, 1, 0}));
}

TEST(Buckets, CoverTheArenaWithoutGaps) {
  const Inventory inventory = describe_model("lenet").value().inventory;
  for (const std::size_t limit : {1U, 1000U, 100'000U, 1U << 30U}) {
    const BucketPlan plan = plan_buckets(inventory, limit, limit);
    std::size_t next = 0;
    for (const Bucket& bucket : plan.buckets) {
      EXPECT_EQ(bucket.begin, next);
      for (const TensorId id : bucket.tensors) {
        EXPECT_EQ(plan.layout.begin[id], next);
        next += inventory[id].elements();
      }
      EXPECT_EQ(bucket.end, next);
    }
    EXPECT_EQ(next, total_elements(inventory));
    EXPECT_EQ(plan.layout.elements, next);
  }
}

TEST(Buckets, InWholeLinesKeepTheirTensorsOnLinesOfTheirOwn) {
  const Inventory inventory = describe_model("lenet").value().inventory;
  const BucketPlan packed = plan_buckets(inventory, 1000, 100'000);
  const BucketPlan plan = in_whole_lines(packed, inventory);
  ASSERT_EQ(plan.buckets.size(), packed.buckets.size());
  EXPECT_EQ(plan.bucket_of, packed.bucket_of);
  std::size_t next = 0;
  for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
    EXPECT_EQ(plan.buckets[i].tensors, packed.buckets[i].tensors);
    EXPECT_EQ(plan.buckets[i].begin, next);
    for (const TensorId id : plan.buckets[i].tensors) {
      EXPECT_EQ(plan.layout.begin[id], next);
      EXPECT_EQ(next % kPerLine<float>, 0U);
      next += whole_lines<float>(inventory[id].elements());
    }
    EXPECT_EQ(plan.buckets[i].end, next);
  }
  EXPECT_EQ(plan.layout.elements, next);
}

TEST(Buckets, FollowAnObservedOrder) {
  const Inventory inventory = {{"a", {100}}, {"b", {10}}, {"c", {1000}}, {"d", {100}}};
  const std::vector<TensorId> order = {1, 0, 3, 2};
  const BucketPlan plan = plan_buckets(inventory, order, 400, 4000);
  ASSERT_EQ(plan.buckets.size(), 2U);
  EXPECT_EQ(plan.buckets[0].tensors, (std::vector<TensorId>{1, 0}));
  EXPECT_EQ(plan.buckets[1].tensors, (std::vector<TensorId>{3, 2}));
  EXPECT_EQ(plan.bucket_of, (std::vector<std::size_t>{0, 0, 1, 1}));
  EXPECT_EQ(plan.layout.begin, (std::vector<std::size_t>{10, 0, 210, 110}));
}

TEST(FullBuckets, AreSaidInIndexOrderWhateverTheOrderOfGradients) {
  const Inventory inventory = {{"a", {100}}, {"b", {10}}, {"c", {1000}}, {"d", {100}}};
  const BucketPlan plan = plan_buckets(inventory, 400, 4000);  // d, c, b with a.
  FullBuckets full(plan);
  for (int step = 0; step < 2; ++step) {
    std::vector<std::size_t> said;
    const auto note = [&said](std::size_t bucket) { said.push_back(bucket); };
    full.ready(0, note);
    full.ready(2, note);
    EXPECT_TRUE(said.empty());  // Bucket 1 is full, but 0 is not.
    full.ready(3, note);
    EXPECT_EQ(said, (std::vector<std::size_t>{0, 1}));
    full.ready(1, note);
    EXPECT_EQ(said, (std::vector<std::size_t>{0, 1, 2}));
    full.next_step();
  }
}

}  // namespace
}  // namespace steelyard::allreduce
