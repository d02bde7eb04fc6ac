// Every rank computes its placement alone; all get the same answer.
#include "src/base/hash.hpp"
#include "src/mpi/communicator.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/placements.hpp"

namespace steelyard::ps {
namespace {

TEST(Placement, EveryRankGetsTheSameAnswer) {
  const mpi::Communicator& world = steelyard::test::launch().world;
  // The last needs a long search that ends by its limit.
  for (const Inventory& inventory :
       {test::stored("lenet"), test::stored("googlenet"), test::random_vectors(40, 5, 1000, 1'000'000)})
    for (const std::string_view name : placement_names()) {
      PlacementOptions options = test::on(16);
      Fnv1a hash;
      for (const Shard& s : test::placed(name, inventory, options).shards) {
        const std::uint64_t words[] = {s.tensor, s.begin, s.end, static_cast<std::uint64_t>(s.server)};
        hash.add(std::as_bytes(std::span(words)));
      }
      const auto mine = static_cast<std::int64_t>(hash.value() >> 1U);
      EXPECT_EQ(mpi::greatest(world, mine), mine) << name;
      EXPECT_EQ(-mpi::greatest(world, -mine), mine) << name;
    }
}

}  // namespace
}  // namespace steelyard::ps
