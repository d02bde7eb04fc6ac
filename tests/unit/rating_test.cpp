// Prices, nodes, and the words for scaling.
#include "src/cli/rating.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace steelyard::cli {
namespace {

using trace::Price;
using trace::Resources;
using trace::Scaling;

TEST(Price, IsThatOfAnHourOfAllRanks) {
  const auto price = parse_price("server=0.2,worker=1.5");
  ASSERT_TRUE(price && price.value());
  const std::vector<int> servers = {0, 1};
  const std::vector<int> workers = {2, 3, 4};
  const Resources made = trace::resources_of(servers, workers, std::vector{0, 1, 0, 1, 1}, price.value());
  EXPECT_DOUBLE_EQ(made.price.value(), 2 * 0.2 + 3 * 1.5);
  // 4.9 buys an hour, in which 10 images/s make 36,000 images.
  EXPECT_DOUBLE_EQ(trace::images_per_price(10.0, made), 36000.0 / 4.9);
}

TEST(Price, OrderDoesNotMatterAndNothingIsNone) {
  EXPECT_DOUBLE_EQ(parse_price("worker=1,server=0").value()->worker, 1.0);
  EXPECT_FALSE(parse_price("").value().has_value());
}

TEST(Price, WrongOnesAreRefusedWithTheValue) {
  for (const char* text :
       {"1", "server=1", "worker=1", "server=1,worker=0", "server=-1,worker=1", "server=1,worker=x",
        "server=1,worker=1,worker=2", "server=1,worker=1,gpu=2", "server=nan,worker=1", "server=1,worker=inf",
        "server=1,worker=1e300", "server,worker=1", ",", "server=1worker=2"}) {
    const auto price = parse_price(text);
    ASSERT_FALSE(price) << text;
    EXPECT_NE(price.error().message.find(std::string("--price '") + text + "': must be server=P,worker=P"),
              std::string::npos)
        << price.error().message;
  }
}

TEST(Nodes, ThatServersAndWorkersShareCountOnce) {
  const std::vector<int> node_of_rank = {0, 0, 1, 1, 2};
  const Resources shared = trace::resources_of(std::vector{0, 2}, std::vector{1, 3}, node_of_rank, {});
  EXPECT_EQ(shared.nodes, 2) << "rank 4 is idle, and its node counts for nobody";
  EXPECT_DOUBLE_EQ(trace::images_per_s_per_node(10.0, shared), 5.0);
  const Resources unknown = trace::resources_of(std::vector{0}, std::vector{5}, node_of_rank, {});
  EXPECT_EQ(unknown.nodes, 0);
  EXPECT_TRUE(std::isnan(trace::images_per_s_per_node(10.0, unknown)));
  EXPECT_TRUE(std::isnan(trace::images_per_price(10.0, unknown)));
}

TEST(ScalingWords, FollowFromWorkersAndBatch) {
  EXPECT_EQ(trace::scaling(2, 64, 2, 128), Scaling::none);
  EXPECT_EQ(trace::scaling(2, 64, 4, 64), Scaling::strong);
  EXPECT_EQ(trace::scaling(2, 64, 4, 128), Scaling::weak);
  EXPECT_EQ(trace::scaling(3, 48, 4, 64), Scaling::weak);
  EXPECT_EQ(trace::scaling(2, 64, 4, 96), Scaling::mixed);
}

TEST(ScalingWords, SayWhatIsTheSame) {
  EXPECT_EQ(scaling_text(std::vector<Share>{{4, 64}, {3, 64}, {2, 64}, {3, 64}}),
            "strong: 2, 3 and 4 workers share the same global batch of 64");
  EXPECT_EQ(scaling_text(std::vector<Share>{{4, 64}, {3, 48}, {4, 64}}),
            "weak: 3 and 4 workers with the same batch of 16 each, global batches of 48 and 64");
  EXPECT_EQ(scaling_text(std::vector<Share>{{4, 64}, {3, 50}}),
            "neither strong nor weak: 3 and 4 workers, global batches of 50 and 64");
  EXPECT_EQ(scaling_text(std::vector<Share>{{4, 64}, {4, 64}}), "");
}

TEST(Rates, AreNullWhereTheyAreNotKnown) {
  const nlohmann::json none = rates_json(Resources{1, 1, 0, {}}, {10, 9, 11});
  EXPECT_TRUE(none["nodes"].is_null() && none["price_per_hour"].is_null());
  EXPECT_TRUE(none["images_per_s_per_node"]["median"].is_null());
  const nlohmann::json known = rates_json(Resources{1, 1, 2, 4.0}, {10, 8, 12});
  EXPECT_EQ(known["images_per_s_per_node"]["low"], 4.0);
  EXPECT_EQ(known["images_per_price"]["median"], 9000.0);
}

}  // namespace
}  // namespace steelyard::cli
