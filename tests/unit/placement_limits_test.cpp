// Weights, memory, and the best that whole tensors can do.
#include <array>

#include "tests/support/placements.hpp"

namespace steelyard::ps {
namespace {

TEST(PlacementWeights, PlacementsBySizeGiveBytesInProportion) {
  const Inventory resnet = test::stored("resnet50");
  PlacementOptions options = test::on(4);
  options.weights = {1.0, 2.0, 0.5, 1.5};
  for (const char* name : {"striped", "wrap", "range", "optimal", "largest_first"}) {
    EXPECT_LE(test::uneven(name, resnet, options), 1.02) << name;
    const auto bytes = server_bytes(resnet, test::placed(name, resnet, options).shards, 4);
    EXPECT_NEAR(static_cast<double>(bytes[1]) / static_cast<double>(bytes[2]), 4.0, 0.1) << name;
  }
  EXPECT_LE(test::uneven("paa", resnet, options), 1.05);
  EXPECT_LE(test::uneven("greedy", resnet, options), 1.5);
}

TEST(PlacementWeights, RulesThatKnowNoneStayAsPublished) {
  const Inventory resnet = test::stored("resnet50");
  PlacementOptions options = test::on(4);
  options.weights = {1.0, 2.0, 0.5, 1.5};
  for (const char* name : {"round_robin", "hash", "mxnet", "p3", "paddle", "byteps", "tf_fixed_shards"}) {
    EXPECT_EQ(test::placed(name, resnet, options).shards, test::placed(name, resnet, test::on(4)).shards);
    // Judged by them: an even load is twice too much for a server of half the speed.
    if (std::string_view(name) == "tf_fixed_shards") {
      EXPECT_NEAR(test::uneven(name, resnet, options), 1.25 / 0.5, 0.01);
    }
  }
}

TEST(PlacementWeights, WrongNumbersAreRefused) {
  PlacementOptions options = test::on(3);
  options.weights = {1.0, 2.0};
  EXPECT_NE(place("wrap", test::stored("lenet"), options).error().message.find("2 numbers for 3 servers"),
            std::string::npos);
  options.weights = {1.0, 0.0, 1.0};
  EXPECT_FALSE(place("wrap", test::stored("lenet"), options));
}

TEST(PlacementMemory, IsNeverExceeded) {
  const Inventory resnet = test::stored("resnet50");
  PlacementOptions options = test::on(5);
  options.memory_copies = 3;
  const std::size_t need = 3 * total_bytes(resnet);
  options.memory = {need / 20, need / 3, need / 10, need / 2, need / 4};  // 1.23 of what is needed.
  for (const std::string_view name : placement_names()) {
    const auto result = place(name, resnet, options);
    if (!result) continue;
    const auto bytes = server_bytes(resnet, result.value().shards, 5);
    for (std::size_t s = 0; s < 5; ++s) EXPECT_LE(3 * bytes[s], options.memory[s]) << name;
  }
  for (const char* name : {"striped", "wrap", "greedy", "largest_first", "optimal", "paa"})
    EXPECT_TRUE(place(name, resnet, options)) << name << " can choose, so it passes over full servers";
  EXPECT_FALSE(place("range", resnet, options)) << "range knows no memory";
}

TEST(PlacementMemory, FullToTheLastElement) {
  const Inventory lenet = test::stored("lenet");
  PlacementOptions options = test::on(3);
  options.memory = {100'000, 100'000, total_bytes(lenet) - 200'000};
  for (const char* name : {"wrap", "striped"}) {
    const auto bytes = server_bytes(lenet, test::placed(name, lenet, options).shards, 3);
    EXPECT_EQ(bytes, options.memory) << name;
  }
}

TEST(PlacementMemory, TheErrorNamesServerNeedLimitAndTheLeastNumberOfServers) {
  const Inventory lenet = test::stored("lenet");
  PlacementOptions options = test::on(2);
  options.memory_copies = 2;
  options.memory = {100'000};
  // 2 x 246,824 bytes need 5 servers of 100,000; whole tensors do not, for one of them is 192,000.
  const std::string wrap = place("wrap", lenet, options).error().message;
  EXPECT_EQ(wrap,
            "placement 'wrap' needs 246824 bytes of memory on server 0 (parameters and optimizer state), "
            "where --server-memory allows 100000; at least 5 servers like these would hold the model");
  options.servers = 5;
  EXPECT_TRUE(place("wrap", lenet, options));
  const std::string whole = place("greedy", lenet, options).error().message;
  EXPECT_NE(whole.find("no number of servers up to 1024 would do"), std::string::npos) << whole;
  options.memory = {100'000, 100'000, 100'000, 50'000, 100'000};
  const std::string unlike = place("wrap", lenet, options).error().message;
  EXPECT_NE(unlike.find("give more servers, or more memory"), std::string::npos) << unlike;
  options.memory = {100'000, 100'000};
  EXPECT_NE(place("wrap", lenet, options).error().message.find("2 numbers for 5 servers"), std::string::npos);
}

/// Sizes for which largest first does badly.
Inventory graham(std::size_t servers) {
  Inventory inventory;
  for (std::size_t size = 2 * servers - 1; size > servers; --size)
    for (int twice = 0; twice < 2; ++twice) inventory.push_back({std::to_string(inventory.size()), {size}});
  for (int thrice = 0; thrice < 3; ++thrice)
    inventory.push_back({std::to_string(inventory.size()), {servers}});
  return inventory;
}

TEST(PlacementOptimal, SolvesGrahamsWorstCases) {
  for (const int servers : {2, 3, 4, 6, 8, 12}) {
    const auto m = static_cast<std::size_t>(servers);
    const Inventory inventory = graham(m);
    const Placed placed = test::placed("optimal", inventory, test::on(servers));
    EXPECT_EQ(std::ranges::max(server_bytes(inventory, placed.shards, servers)), 4 * 3 * m);
    EXPECT_TRUE(placed.optimum->proven);
    EXPECT_EQ(placed.optimum->gap(), 0.0);
    EXPECT_NEAR(test::uneven("largest_first", inventory, test::on(servers)),
                (4.0 * static_cast<double>(servers) - 1.0) / (3.0 * static_cast<double>(servers)), 1e-9);
  }
}

TEST(PlacementOptimal, IsWithinHalfAPercentWhereLargestFirstIsThreeAbove) {
  struct Case {
    int servers;
    std::size_t tensors;
    std::uint64_t seed;
  };
  // Tensors of 1,000 to 1,001,000 elements, two to six for each server.
  constexpr Case kCases[] = {{4, 10, 2}, {4, 16, 2}, {8, 24, 1},  {8, 32, 0},  {8, 32, 1},
                             {8, 32, 2}, {8, 48, 1}, {16, 48, 0}, {16, 64, 1}, {16, 64, 2}};
  for (const Case& c : kCases) {
    Inventory inventory;
    for (std::size_t i = 0; i < c.tensors; ++i) {
      const std::uint64_t stream = static_cast<std::uint64_t>(c.servers) * 1000 + c.tensors;
      inventory.push_back({std::to_string(i), {1000 + random_bits(c.seed, stream, i) % 1'000'000}});
    }
    PlacementOptions options = test::on(c.servers);
    options.time_limit_s = 1.0;
    const Placed placed = test::placed("optimal", inventory, options);
    const double best = max_over_mean(inventory, placed.shards, options);
    EXPECT_GT(test::uneven("largest_first", inventory, options), 1.03 * best)
        << c.servers << " " << c.tensors;
    EXPECT_LE(placed.optimum->gap(), 0.005) << c.servers << " servers, " << c.tensors << " tensors";
  }
}

/// By trying every assignment.
double least_possible(const Inventory& inventory, const PlacementOptions& options) {
  double least = 1e300;
  std::vector<int> owner_of(inventory.size());
  for (;;) {
    least = std::min(least, max_over_mean(inventory, whole_tensors(inventory, owner_of).shards, options));
    std::size_t i = 0;
    while (i < owner_of.size() && ++owner_of[i] == options.servers) owner_of[i++] = 0;
    if (i == owner_of.size()) return least;
  }
}

TEST(PlacementOptimal, IsTheBestOfAllAssignmentsOfSmallModels) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Inventory inventory = test::random_vectors(1 + seed % 8, seed, 1, seed % 2 == 0 ? 12 : 100'000);
    PlacementOptions options = test::on(2 + static_cast<int>(seed % 2));
    if (seed % 3 == 0) options.weights = {1.0, 2.5};
    options.weights.resize(options.weights.empty() ? 0 : static_cast<std::size_t>(options.servers), 0.75);
    const Placed placed = test::placed("optimal", inventory, options);
    EXPECT_TRUE(placed.optimum->proven) << seed;
    EXPECT_NEAR(max_over_mean(inventory, placed.shards, options), least_possible(inventory, options), 1e-6)
        << seed;
  }
}

TEST(PlacementOptimal, FindsWhatMemoryAllows) {
  // Largest first puts 7 beside 5 and then 4 nowhere; 7 + 3 and 6 + 4 fill both servers.
  const Inventory inventory = {{"a", {7}}, {"b", {6}}, {"c", {4}}, {"d", {3}}};
  PlacementOptions options = test::on(2);
  options.memory = {40};
  EXPECT_TRUE(place("optimal", inventory, options));
  options.memory = {39};
  EXPECT_FALSE(place("optimal", inventory, options));
}

TEST(PlacementLimits, MoreShardsThanMemoryShouldHoldAreRefused) {
  const Inventory inventory = {{"a", {std::size_t{1} << 20U, 32}}, {"b", {7}}};
  PlacementOptions options = test::on(4);
  options.slice_elements = 1;
  const auto placed = place("p3", inventory, options);
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().message,
            "placement 'p3' cuts the model into 2^24 shards or more: give larger shards, or fewer servers");
  options.slice_elements = 8;
  EXPECT_TRUE(place("p3", inventory, options));
}

TEST(PlacementMemory, AdviceOnManyTensorsEnds) {
  Inventory inventory = test::random_vectors(100'000, 1, 1, 10);
  inventory.push_back({"large", {1'000'000}});
  PlacementOptions options = test::on(2);
  options.memory = {3'900'000};
  const auto placed = place("greedy", inventory, options);
  ASSERT_FALSE(placed);
  EXPECT_NE(placed.error().message.find("no number of servers up to "), std::string::npos)
      << placed.error().message;
}

TEST(PlacementOptimal, TakesNoMoreStepsThanItMay) {
  const Inventory inventory = test::random_vectors(40, 5, 1000, 1'000'000);
  PlacementOptions options = test::on(16);
  options.time_limit_s = 0.0;
  const Placed none = test::placed("optimal", inventory, options);
  EXPECT_LE(max_over_mean(inventory, none.shards, options),
            test::uneven("largest_first", inventory, options));
  EXPECT_GT(none.optimum->gap(), 0.0) << "nothing was proven";
}

}  // namespace
}  // namespace steelyard::ps
