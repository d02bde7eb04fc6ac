// The right values of published placements, worked out from their rules on models of fixed inventories.
#include "tests/support/placements.hpp"

namespace steelyard::ps {
namespace {

struct Right {
  const char* placement;
  double max_over_mean;  ///< Two decimals.
  std::size_t shards;
};

void expect_right(const Inventory& inventory, std::span<const Right> rows) {
  for (const Right& right : rows) {
    const Placed placed = test::placed(right.placement, inventory, test::on(8));
    EXPECT_NEAR(max_over_mean(inventory, placed.shards, test::on(8)), right.max_over_mean, 0.005)
        << right.placement;
    EXPECT_EQ(placed.shards.size(), right.shards) << right.placement;
  }
}

TEST(PlacementValues, OfLenetOnEightServers) {
  const Inventory lenet = test::stored("lenet");
  ASSERT_EQ(total_elements(lenet), 61'706U);
  // One tensor holds 48,000 of the elements: no placement of whole tensors beats 6.22.
  constexpr Right kRows[] = {{"round_robin", 6.22, 10}, {"greedy", 6.22, 10}, {"largest_first", 6.22, 10},
                             {"optimal", 6.22, 10},     {"mxnet", 6.22, 10},  {"tf_min_size", 6.22, 10},
                             {"byteps", 6.22, 10},      {"range", 1.00, 17},  {"tf_fixed_shards", 1.02, 76},
                             {"p3", 5.19, 11},          {"paddle", 1.62, 14}, {"paa", 1.00, 17},
                             {"wrap", 1.00, 17}};
  expect_right(lenet, kRows);
}

TEST(PlacementValues, OfResnet50OnEightServers) {
  const Inventory resnet = test::stored("resnet50");
  ASSERT_EQ(resnet.size(), 161U);
  ASSERT_EQ(total_elements(resnet), 25'557'032U);
  constexpr Right kRows[] = {
      {"round_robin", 1.31, 161}, {"greedy", 1.30, 161}, {"largest_first", 1.00, 161},
      {"range", 1.00, 168},       {"mxnet", 1.22, 231},  {"tf_fixed_shards", 1.00, 1288},
      {"tf_min_size", 1.04, 330}, {"p3", 1.05, 769},     {"paddle", 1.01, 473},
      {"byteps", 1.54, 175},      {"paa", 1.01, 161},    {"optimal", 1.00, 161}};
  expect_right(resnet, kRows);
}

TEST(PlacementValues, OfVgg16SlicesCostMessages) {
  const Inventory vgg = test::stored("vgg16");
  EXPECT_EQ(test::placed("p3", vgg, test::on(8)).shards.size(), 3480U);
  EXPECT_LE(test::placed("paa", vgg, test::on(8)).shards.size(), 40U);
  EXPECT_EQ(test::placed("tf_max_size", vgg, test::on(8)).shards.size(), 39U) << "411 MB in 64 MB shards";
}

TEST(PlacementValues, RoundRobinWithOffsetOneGivesOneServerMostOfTheTraffic) {
  const Inventory mnist = test::stored("mnist-fc");  // All weights, then all biases.
  PlacementOptions options = test::on(4);
  options.offset = 1;
  const auto bytes = server_bytes(mnist, test::placed("round_robin", mnist, options).shards, 4);
  const double right[] = {0.27, 82.78, 13.55, 3.40};
  for (std::size_t s = 0; s < 4; ++s)
    EXPECT_NEAR(100.0 * static_cast<double>(bytes[s]) / static_cast<double>(total_bytes(mnist)), right[s],
                0.005);
}

TEST(PlacementValues, OfTheExampleInTheDocumentation) {
  const Inventory example = {{"a", {6, 10}}, {"b", {10}}, {"c", {4, 25}}, {"d", {30}}, {"e", {}}};
  PlacementOptions options = test::on(3);
  options.max_shard_bytes = 200;
  options.block_elements = 25;
  options.part_bytes = 160;
  options.slice_elements = 40;
  options.min_shard_bytes = 120;
  options.big_array_elements = 90;
  struct Row {
    const char* placement;
    std::vector<std::size_t> elements;
    std::size_t shards;
  };
  const Row rows[] = {{"striped", {67, 66, 68}, 13},
                      {"wrap", {67, 67, 67}, 7},
                      {"range", {67, 67, 67}, 7},
                      {"paa", {67, 64, 70}, 6},
                      {"tf_max_size", {81, 80, 40}, 7},
                      {"paddle", {81, 80, 40}, 7},
                      {"tf_fixed_shards", {85, 58, 58}, 13},
                      {"byteps", {90, 41, 70}, 8},
                      {"optimal", {100, 60, 41}, 5},
                      {"largest_first", {100, 60, 41}, 5},
                      {"greedy", {60, 41, 100}, 5},
                      {"round_robin", {90, 11, 100}, 5},
                      {"hash", {100, 90, 11}, 5},
                      {"p3", {110, 61, 30}, 8},
                      {"tf_min_size", {110, 56, 35}, 8},
                      {"mxnet", {123, 45, 33}, 7}};
  for (const Row& row : rows) {
    const Placed placed = test::placed(row.placement, example, options);
    std::vector<std::size_t> elements = server_bytes(example, placed.shards, 3);
    for (std::size_t& count : elements) count /= sizeof(float);
    EXPECT_EQ(elements, row.elements) << row.placement;
    EXPECT_EQ(placed.shards.size(), row.shards) << row.placement;
  }
}

std::vector<int> servers_of(std::string_view name, const Inventory& inventory, PlacementOptions options) {
  std::vector<int> servers;
  for (const Shard& shard : test::placed(name, inventory, options).shards) servers.push_back(shard.server);
  return servers;
}

TEST(PlacementValues, OfHashes) {
  PlacementOptions options = test::on(1000);
  // djb2("a") = 33 * 5381 + 97 = 177670; djb2("ab") = 33 * 177670 + 98 = 5863208.
  const Inventory names = {{"a", {1}}, {"ab", {1}}};
  EXPECT_EQ(servers_of("hash", names, options), (std::vector{670, 208}));
  // sdbm("a") = 97; sdbm("ab") = 98 + 97 * 65599 = 6363201.
  options.hash = "sdbm";
  EXPECT_EQ(servers_of("hash", names, options), (std::vector{97, 201}));
  // byteps: keys 0, 1 of the first tensor, 65536 of the second. naive: 0, 9973, 9973.
  options.hash = "naive";
  options.part_bytes = 4;
  EXPECT_EQ(servers_of("byteps", {{"a", {2}}, {"b", {1}}}, options), (std::vector{0, 973, 973}));
  // sdbm("0") = 48, sdbm("1") = 49.
  options.hash = "sdbm";
  EXPECT_EQ(servers_of("byteps", {{"a", {2}}}, options), (std::vector{48, 49}));
}

TEST(PlacementValues, OfMxnetWithManyTensorsStayInRange) {
  // 9973 * 215,400 exceeds 2^31, where the original turns negative.
  const Inventory many = test::random_vectors(215'401, 1, 1, 1);
  const Placed placed = test::placed("mxnet", many, test::on(7));
  EXPECT_EQ(placed.shards.back().server, static_cast<int>(std::uint64_t{215'400} * 9973 % 7));
}

TEST(PlacementValues, OfMixedModeServersThatShareGetLess) {
  PlacementOptions options = test::on(8);
  options.mixed_workers = 4;
  options.part_bytes = 400;
  const Inventory one = {{"table", {2'000'000}}};
  const auto bytes = server_bytes(one, test::placed("byteps", one, options).shards, 8);
  double dedicated = 0.0;
  for (std::size_t s = 0; s < 4; ++s) dedicated += static_cast<double>(bytes[s]);
  // ratio = 2 * 4 * 3 / (4 * 8 - 8) = 1: all to those that serve alone.
  EXPECT_EQ(dedicated, 8e6);
  options.mixed_workers = 6;  // 2 * 2 * 5 / (6 * 8 - 4) = 0.4545
  const auto less = server_bytes(one, test::placed("byteps", one, options).shards, 8);
  // djb2 of decimal digits is not uniform; 46 of the 101 remainders are below the threshold.
  EXPECT_NEAR(static_cast<double>(less[0] + less[1]) / 8e6, 46.0 / 101.0, 0.05);
}

TEST(PlacementValues, WrongParametersAreRefusedWithTheReason) {
  const Inventory lenet = test::stored("lenet");
  PlacementOptions options = test::on(8);
  const auto reason = [&](std::string_view name) {
    auto result = place(name, lenet, options);
    return result ? std::string("placed") : result.error().message;
  };
  options.hash = "built_in";
  EXPECT_NE(reason("byteps").find("differs between builds"), std::string::npos) << reason("byteps");
  options.hash = "md5";
  EXPECT_NE(reason("byteps").find("djb2, sdbm, naive"), std::string::npos) << reason("byteps");
  options.hash = "naive";
  EXPECT_NE(reason("hash").find("hashes names"), std::string::npos) << reason("hash");
  options = test::on(8);
  options.mixed_workers = 9;
  EXPECT_NE(reason("byteps").find("at most 8"), std::string::npos) << reason("byteps");
  options.mixed_workers = 2;  // 2 * 6 * 1 / (2 * 8 - 12) = 3
  EXPECT_NE(reason("byteps").find("from 0 to 1"), std::string::npos) << reason("byteps");
  options.mixed_workers = 6;
  options.mixed_bound = 7;
  EXPECT_NE(reason("byteps").find("at least the number of servers"), std::string::npos) << reason("byteps");
  EXPECT_NE(reason("fastest").find("choose one of: striped, wrap"), std::string::npos);
}

}  // namespace
}  // namespace steelyard::ps
