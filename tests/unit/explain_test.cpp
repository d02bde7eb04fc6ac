// The explanation names the cause that there is, and the cure, with the figures of both.
#include "src/cli/explain.hpp"

#include "src/cli/placement_request.hpp"
#include "tests/support/placements.hpp"

namespace steelyard::cli {
namespace {

Inventory vectors(const std::vector<std::size_t>& elements) {
  Inventory inventory;
  for (const std::size_t count : elements)
    inventory.push_back({std::string(1, static_cast<char>('a' + inventory.size())), {count}});
  return inventory;
}

std::string explained(const Inventory& inventory, const ps::PlacementOptions& options,
                      const std::string& name) {
  const PlacementTask task{"m", inventory, {name}, options, 131072, 4194304};
  std::vector<PlacementFigures> others;
  for (const std::string& other : all_placements())
    if (other != name) others.push_back(figures_of(task, other, false));
  return explain(task, figures_of(task, name, true), others);
}

std::string first_of(const std::string& text) { return text.substr(0, text.find(". ") + 1); }
std::string second_of(const std::string& text) { return text.substr(text.find(". ") + 2); }

TEST(Explain, ATensorLargerThanAFairShare) {
  const std::string text = explained(vectors({100, 100, 700, 100}), ps::test::on(2), "round_robin");
  EXPECT_EQ(
      first_of(text),
      "round_robin is uneven: server 0 holds 3.2 kB, 1.60 times its fair share of 2 kB, because tensor 'c' "
      "alone is 2.8 kB, 1.40 fair shares, and is not cut, with 1 more shard beside it; the best of whole "
      "tensors, optimal, has 1.40.");
  EXPECT_NE(second_of(text).find(
                " would cure it: its fullest server holds 2 kB, 1.00 fair shares; it cuts 1 tensor "),
            std::string::npos)
      << text;
}

TEST(Explain, TheBestOfWholeTensorsIsNotBlamedOnItsRule) {
  const std::string text = explained(vectors({100, 100, 700, 100}), ps::test::on(2), "greedy");
  EXPECT_EQ(
      first_of(text),
      "greedy is uneven: server 0 holds 3.2 kB, 1.60 times its fair share of 2 kB, because tensor 'c' alone "
      "is "
      "2.8 kB, 1.40 fair shares, and is not cut, with 1 more shard beside it; the best of whole tensors, "
      "optimal, has 1.40.");
  EXPECT_EQ(first_of(explained(vectors({100, 100, 700, 100}), ps::test::on(2), "optimal")),
            "optimal is uneven: server 0 holds 2.8 kB, 1.40 times its fair share of 2 kB, because tensor 'c' "
            "alone is "
            "2.8 kB, 1.40 fair shares, and is not cut.");
}

TEST(Explain, ARuleThatPutsLargeTensorsTogether) {
  const std::string text =
      explained(vectors({90, 10, 90, 10, 90, 10, 90, 10}), ps::test::on(2), "round_robin");
  EXPECT_EQ(
      first_of(text),
      "round_robin is uneven: server 0 holds 1.44 kB, 1.80 times its fair share of 800 B, because its rule "
      "gives that server 4 of the 8 shards, the largest of them 'a' with 360 B, 0.45 fair shares; the best "
      "of "
      "whole tensors, striped, has 1.00.");
  EXPECT_EQ(second_of(text),
            "striped would cure it: its fullest server holds 800 B, 1.00 fair shares; it cuts no tensor and "
            "takes 2 "
            "messages a step, as many as now.");
}

TEST(Explain, WeightsThatAreNotHeeded) {
  ps::PlacementOptions options = ps::test::on(2);
  options.weights = {1.0, 0.25};
  const std::string text =
      explained(vectors({10, 10, 10, 10, 10, 10, 10, 10, 10, 10}), options, "round_robin");
  EXPECT_EQ(
      first_of(text),
      "round_robin is uneven: server 1 holds 200 B, 2.50 times its fair share of 80 B, because its rule does "
      "not heed weights: by its weight of 0.25 the server's part is 20.0 %, and it has 50.0 %; the best of "
      "whole tensors, striped, has 1.00.");
  EXPECT_NE(second_of(text).find(
                "would cure it: its fullest server holds 320 B, 1.00 fair shares; it cuts no tensor"),
            std::string::npos)
      << text;
}

TEST(Explain, APieceLargerThanAFairShare) {
  ps::PlacementOptions options = ps::test::on(4);
  options.slice_elements = 600;
  const std::string text = explained(vectors({1000, 100}), options, "p3");
  EXPECT_NE(first_of(text).find(
                "because its piece of tensor 'a' alone is 2.4 kB, 2.18 fair shares, of the 4 kB that "
                "the tensor has."),
            std::string::npos)
      << text;
}

TEST(Explain, AnEvenPlacementIsCalledEven) {
  const std::string text = explained(vectors({50, 50, 50, 50}), ps::test::on(2), "round_robin");
  EXPECT_EQ(text,
            "round_robin is even: the fullest server, 0, holds 400 B, 1.00 times its fair share of 400 B. It "
            "takes 2 "
            "messages a step, at most 1 to one server; no other even placement does with half of them.");
}

TEST(Explain, AnEvenPlacementOfManyMessages) {
  ps::PlacementOptions options = ps::test::on(2);
  options.slice_elements = 1;
  const std::string text = explained(vectors({50, 50, 50, 50}), options, "p3");
  EXPECT_EQ(second_of(text), "It takes 400 messages a step, and striped is as even with 2.");
}

TEST(Explain, NothingBetterIsSaid) {
  const PlacementTask task{"m", vectors({3, 1}), {"wrap"}, ps::test::on(2), 131072, 4194304};
  EXPECT_NE(explain({"m", vectors({3, 1}), {"greedy"}, ps::test::on(2), 131072, 4194304},
                    figures_of(task, "greedy", true), {})
                .find("No other placement is more even."),
            std::string::npos);
}

TEST(Explain, TheBoundOfWholeTensorsCountsWeights) {
  ps::PlacementOptions options = ps::test::on(2);
  EXPECT_DOUBLE_EQ(whole_tensor_bound({"m", vectors({30, 10}), {}, options, 1, 1}), 1.5);
  options.weights = {3.0, 1.0};
  EXPECT_DOUBLE_EQ(whole_tensor_bound({"m", vectors({30, 10}), {}, options, 1, 1}), 1.0);
}

}  // namespace
}  // namespace steelyard::cli
