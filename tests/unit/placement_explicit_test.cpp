// Placements from files, and back.
#include "modes/ps/placement/explicit.hpp"

#include "modes/ps/remembered.hpp"
#include "tests/support/placements.hpp"

namespace steelyard::ps {
namespace {

const Inventory kModel = {
    {"conv1.weight", {6, 4}}, {"conv1.bias", {6}}, {"fc.weight", {10, 10}}, {"fc.bias", {10}}};

Expected<Placed> by(const std::string& rules) {
  PlacementOptions options;
  options.servers = 3;
  options.rules = rules;
  return place("explicit:some/file", kModel, options);
}

std::string reason(const std::string& rules) {
  auto placed = by(rules);
  return placed ? "placed" : placed.error().message;
}

TEST(PlacementExplicit, TheFirstLineThatMatchesDecides) {
  const std::string rules =
      "# a comment\n"
      "conv1.weight 2\n"
      "\r\n"
      "  conv*\t1  \n"
      "fc.weight 50:100 2\n"
      "*.bias 0\n"
      "conv* 0\n"
      "fc.weight 0:50 1\n"
      "fc.weight 0\n";
  EXPECT_EQ(by(rules).value().shards,
            (std::vector<Shard>{{0, 0, 24, 2}, {1, 0, 6, 1}, {2, 0, 50, 1}, {2, 50, 100, 2}, {3, 0, 10, 0}}));
}

TEST(PlacementExplicit, TheFallbackPlacesTheOthers) {
  EXPECT_EQ(by("fc* 2\nfallback round_robin\n").value().shards,
            (std::vector<Shard>{{0, 0, 24, 0}, {1, 0, 6, 1}, {2, 0, 100, 2}, {3, 0, 10, 2}}));
  EXPECT_EQ(by("fallback range").value().shards, test::placed("range", kModel, test::on(3)).shards);
}

TEST(PlacementExplicit, TheFallbackGetsTheMemoryThatIsLeft) {
  PlacementOptions options = test::on(2);
  options.rules = "fc.weight 0\nfallback largest_first\n";
  options.memory_copies = 2;
  options.memory = {2 * (400 + 24), 1000};
  const auto bytes = server_bytes(kModel, place("explicit", kModel, options).value().shards, 2);
  EXPECT_EQ(bytes, (std::vector<std::size_t>{400 + 24, 96 + 40}));
  options.memory[0] -= 1;
  EXPECT_TRUE(place("explicit", kModel, options)) << "all the others on server 1";
  options.memory[0] = 799;
  EXPECT_NE(place("explicit", kModel, options).error().message.find("on server 0"), std::string::npos);
}

TEST(PlacementExplicit, WrongLinesAreNamed) {
  EXPECT_NE(reason("conv1.weight 0\n").find("no line matches tensor 'conv1.bias'"), std::string::npos);
  EXPECT_NE(reason("* 0\nconv1.weight\n").find("line 2: 'conv1.weight' is neither"), std::string::npos);
  EXPECT_NE(reason("* 3\n").find("line 1: server 3 of 3; must be from 0 to 2"), std::string::npos);
  EXPECT_NE(reason("* -1\n").find("server -1"), std::string::npos);
  EXPECT_NE(reason("* 99999999999999999999\n").find("is neither"), std::string::npos);
  EXPECT_NE(reason("0:5 1\n").find("no pattern"), std::string::npos);
  EXPECT_NE(reason("2\n").find("no pattern"), std::string::npos);
  EXPECT_NE(reason("a 5:5 1\n").find("end must be greater"), std::string::npos);
  EXPECT_NE(reason("fallback best\n").find("unknown placement 'best'"), std::string::npos);
  EXPECT_NE(reason("fallback explicit\n").find("another strategy"), std::string::npos);
  const std::string rest = "\nfallback range\n";
  EXPECT_NE(reason("fc.weight 0:50 1" + rest).find("end at 50 of its 100"), std::string::npos);
  EXPECT_NE(reason("fc.weight 10:100 1" + rest).find("must begin at 0"), std::string::npos);
  EXPECT_NE(reason("fc.weight 0:60 1\nfc.weight 50:100 1" + rest).find("must begin at 60"),
            std::string::npos);
  EXPECT_NE(reason("fc.weight 0:101 1" + rest).find("which has 100"), std::string::npos);
  EXPECT_NE(reason("").find("no line matches"), std::string::npos);
}

TEST(PlacementExplicit, WhatIsWrittenComesBack) {
  Inventory odd = {{"plain", {50}},        {"a b", {7}},
                   {"x 0:3", {3}},         {"[*]?\\", {9}},
                   {"#first", {5}},        {"fallback", {4}},
                   {" blank ", {8}},       {"tab\tand\nline", {6}},
                   {"fallback wrap", {2}}, {"\xC3\xA9t\xC3\xA9", {20}}};
  for (const std::string_view name : placement_names())
    for (const int servers : {1, 3, 8}) {
      PlacementOptions options = test::on(servers);
      const auto shards = test::placed(name, odd, options).shards;
      options.rules = explicit_rules(odd, shards);
      EXPECT_EQ(test::placed("explicit", odd, options).shards, shards) << name << "\n" << options.rules;
    }
}

TEST(PlacementExplicit, AFileWithALineForEachOfManyTensorsIsReadInTime) {
  const Inventory many = test::random_vectors(100'000, 3, 1, 100);
  PlacementOptions options = test::on(16);
  const auto shards = test::placed("greedy", many, options).shards;
  options.rules = explicit_rules(many, shards);
  EXPECT_EQ(test::placed("explicit", many, options).shards, shards);
}

TEST(RememberedPlacement, DependsOnEverythingThatAPlacementDoes) {
  const Inventory lenet = test::stored("lenet");
  Inventory renamed = lenet;
  renamed[0].name = "another";
  PlacementOptions options = test::on(5);
  for (int round = 0; round < 2; ++round) {
    for (const std::string_view name : placement_names())
      for (const Inventory* model : std::initializer_list<const Inventory*>{&lenet, &renamed})
        EXPECT_EQ(remembered_place(name, *model, options).value().shards,
                  place(name, *model, options).value().shards)
            << name;
    options.offset = 1;
    options.hash = "sdbm";
  }
}

}  // namespace
}  // namespace steelyard::ps
