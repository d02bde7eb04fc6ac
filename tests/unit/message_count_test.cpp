// Counting messages gives what the plan of training has.
#include "modes/ps/message_count.hpp"

#include "modes/ps/plan.hpp"
#include "tests/support/placements.hpp"

namespace steelyard::ps {
namespace {

std::vector<std::size_t> messages_of_plan(const Inventory& inventory, const std::vector<Shard>& shards,
                                          int servers, std::size_t bundle, std::size_t piece) {
  const Plan plan = make_plan(inventory, cut_large(shards, piece), servers, bundle);
  std::vector<std::size_t> messages(static_cast<std::size_t>(servers));
  for (const Bundle& one : plan.bundles)
    messages[static_cast<std::size_t>(one.server)] += one.pushed(Wire::fp32).messages;
  return messages;
}

TEST(MessageCount, IsThatOfThePlanForEveryPlacement) {
  for (const std::uint64_t seed : {1U, 2U, 3U})
    for (const int servers : {1, 3, 8}) {
      const Inventory inventory = test::random_shapes(150, seed);
      PlacementOptions options = test::on(servers);
      options.slice_elements = 500;
      options.part_bytes = 3000;
      for (const std::string_view name : placement_names()) {
        const auto shards = test::placed(name, inventory, options).shards;
        for (const std::size_t bundle : {4U, 4096U, 131072U})
          for (const std::size_t piece : {64U, 1000U, 4194304U})
            EXPECT_EQ(pushed_messages(shards, servers, bundle, piece),
                      messages_of_plan(inventory, shards, servers, bundle, piece))
                << name << ", seed " << seed << ", " << servers << " servers, " << bundle << ", " << piece;
      }
    }
}

TEST(MessageCount, WholeTensorsRideTogetherAndPiecesTakeTwo) {
  const std::vector<Shard> shards = {
      {0, 0, 100, 0}, {1, 0, 100, 0}, {2, 0, 50, 0}, {2, 50, 100, 1}, {3, 0, 100, 1}};
  EXPECT_EQ(pushed_messages(shards, 3, 131072, 4194304), (std::vector<std::size_t>{3, 3, 0}));
  EXPECT_EQ(pushed_messages(shards, 3, 400, 4194304), (std::vector<std::size_t>{4, 3, 0}));
}

}  // namespace
}  // namespace steelyard::ps
