#include <gtest/gtest.h>

#include "tests/support/model_file.hpp"

namespace steelyard {
namespace {

using test::listed;
using test::refusal;
using test::test_file;

TEST(JsonInventory, IsListedInItsOrder) {
  const auto read = read_inventory(test_file("list.json")).value();
  EXPECT_EQ(listed(read.inventory),
            "fc.weight 5x3 float32\nfc.bias 5 float32\nscale, with a comma  bfloat16\n");
  EXPECT_EQ(read.operations, (std::vector<double>{15.0, 0.0, 1.0}));
}

TEST(JsonInventory, RefusesWhatIsWrongAndSaysWhy) {
  const auto tensor = [](const std::string& shape, const std::string& more = "") {
    return R"([{"name":"w","dtype":"float32","shape":)" + shape + more + "}]";
  };
  std::string axes = "[1";
  for (int i = 0; i < 100; ++i) axes += ",1";
  const std::pair<std::string, const char*> kCases[] = {
      {"", "is not JSON"},
      {"[]", "has no tensors"},
      {"{}", "must be a list of"},
      {"3", "the number 3"},
      {"[3]", "the number 3"},
      {"[[]]", "must be a list of objects"},
      {std::string(1'000'000, '['), "must be a list of objects"},
      {tensor(std::string(1'000'000, '[')), "where none may be"},
      {tensor("[-1]"), "the JSON value -1"},
      {tensor("[99999999999999999999]"), "the JSON value 99999999999999999999"},
      {tensor("[0]"), "sizes from 1"},
      {tensor("[9000000000,9000000000]"), "at most 2^44 elements"},
      {tensor(axes + "]"), "more than 64 sizes"},
      {tensor("[2]", R"(,"size":3)"), "the key 'size'"},
      {tensor("[2]", R"(,"multiply_adds":true)"), "the JSON value true"},
      {R"([{"name":"w","dtype":"float32"}])", "has no \"shape\" for 'w'"},
      {R"([{"name":"w","dtype":"float3","shape":[]}])", "the dtype 'float3' of 'w'"},
      {R"([{"dtype":"float32","shape":[]}])", "a tensor has no name"},
      {R"([{"name":")" + std::string(5000, 'a') + R"(","dtype":"float32","shape":[]}])",
       "longer than 4096 bytes"},
      {R"([{"name":"w","dtype":"int8","shape":[]},{"name":"w","dtype":"int8","shape":[]}])",
       "'w' is there twice"},
      {R"([{"name":")"
       "\xff"
       R"(","dtype":"float32","shape":[]}])",
       "is not JSON"},
  };
  for (const auto& [text, why] : kCases) {
    const std::string got = refusal(text, ".json");
    EXPECT_NE(got.find(why), std::string::npos) << why << "\n" << got;
  }
}

}  // namespace
}  // namespace steelyard
