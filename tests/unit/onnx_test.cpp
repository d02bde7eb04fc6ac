#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "tests/support/model_file.hpp"

namespace steelyard {
namespace {

using test::bytes_of;
using test::listed;
using test::ModelFile;
using test::refusal;
using test::test_file;

constexpr const char* kListed =
    "fc.weight 5x3 float32\nfc.bias 5 float32\nhalf 2x2 float16\nslope  float64\n";

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string number(std::uint32_t field, std::uint64_t value) { return varint(field << 3U) + varint(value); }
std::string counted(std::uint32_t field, const std::string& bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}

/// A model of one graph with one initializer, fields of onnx.proto3.
std::string model(const std::string& tensor) { return counted(7, counted(5, tensor)); }
std::string tensor(std::uint64_t size, std::uint64_t type, std::size_t bytes) {
  return number(1, size) + number(2, type) + counted(8, "w") + counted(9, std::string(bytes, '\0'));
}

TEST(Onnx, InitializersOfTheLibraryAreListedWithoutIntegers) {
  EXPECT_EQ(listed(read_inventory(test_file("tiny.onnx")).value().inventory), kListed);
}

TEST(Onnx, ExternalDataNeedNotBeThere) {
  EXPECT_EQ(listed(read_inventory(test_file("external.onnx")).value().inventory), kListed);
}

TEST(Onnx, CutAnywhereIsRefused) {
  const std::string whole = bytes_of(test_file("tiny.onnx"));
  ASSERT_EQ(refusal(whole, ".onnx"), "accepted");
  std::size_t accepted = 0;
  for (std::size_t size = 0; size < whole.size(); ++size)
    accepted += refusal(whole.substr(0, size), ".onnx") == "accepted";
  EXPECT_LE(accepted, 1U);  // Behind the graph stands the version of operators, which may be missing.
}

TEST(Onnx, RefusesWhatIsWrongAndSaysWhy) {
  const std::pair<std::string, const char*> kCases[] = {
      {"", "has no graph"},
      {number(1, 8), "has no graph"},
      {counted(7, ""), "has no tensors"},
      {counted(7, "") + counted(7, ""), "has two graphs"},
      {model(tensor(3, 1, 11)), "has 11 bytes for 'w', whose shape and type need 12"},
      {model(tensor(~std::uint64_t{0}, 1, 12)), "a negative size, in 'w'"},
      {model(tensor(std::uint64_t{1} << 62U, 1, 12)), "more than 2^44 elements"},
      {model(tensor(3, 99, 12)), "the data type 99 of 'w'"},
      {model(tensor(3, 7, 24)), "has no tensors"},
      {model(number(2, 1) + counted(9, "1234")), "a tensor has no name"},
      {model(tensor(3, 1, 12) + counted(3, "")), "a segment of the tensor 'w'"},
      {counted(7, counted(5, tensor(1, 1, 4)) + counted(5, tensor(1, 1, 4))), "'w' is there twice"},
      {counted(7, counted(15, "")), "sparse initializers"},
      {model(number(1, 3) + number(2, 1) + counted(8, "w") + number(14, 1) +
             counted(13, counted(1, "length") + counted(2, "11"))),
       "has 11 bytes for 'w'"},
      {model(number(1, 3) + number(2, 1) + counted(8, "w") + number(14, 1) +
             counted(13, counted(1, "length") + counted(2, "-1"))),
       "external data of the length '-1'"},
      {model(counted(1, std::string(1000, '\x01')) + number(2, 1)), "is no ONNX model"},
      {varint(7U << 3U | 2U) + varint(~std::uint64_t{0}), "is no ONNX model"},
      {std::string(11, '\xff'), "is no ONNX model"},
      {std::string("\x3b", 1), "is no ONNX model"},
  };
  for (const auto& [bytes, why] : kCases) {
    const std::string got = refusal(bytes, ".onnx");
    EXPECT_NE(got.find(why), std::string::npos) << why << "\n" << got;
  }
}

TEST(Onnx, OfGigabytesIsReadWithoutItsValues) {
  const std::size_t values = 2'000'000'000;
  const std::string head =
      number(1, values / 4) + number(2, 1) + counted(8, "w") + varint(9U << 3U | 2U) + varint(values);
  const std::size_t inner = head.size() + values;
  const std::string initializer = varint(5U << 3U | 2U) + varint(inner) + head;
  const ModelFile file(varint(7U << 3U | 2U) + varint(initializer.size() + values) + initializer, ".onnx");
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) + values);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(total_elements(read_inventory(file.path()).value().inventory), values / 4);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

}  // namespace
}  // namespace steelyard
