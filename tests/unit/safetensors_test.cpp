#include <gtest/gtest.h>

#include <sys/resource.h>

#include <chrono>
#include <filesystem>

#include "tests/support/model_file.hpp"

namespace steelyard {
namespace {

using test::listed;
using test::ModelFile;
using test::refusal;
using test::test_file;

constexpr const char* kEnding = ".safetensors";

std::string with_header(const std::string& header, std::size_t data) {
  std::string bytes;
  for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8U * i);
  return bytes + header + std::string(data, '\0');
}

std::string entry(const std::string& name, const std::string& shape, std::size_t begin, std::size_t end,
                  const std::string& dtype = "F32") {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

TEST(Safetensors, OfTheLibraryAreListedByOffset) {
  const auto read = read_inventory(test_file("mixed.safetensors")).value();
  EXPECT_EQ(listed(read.inventory), "steps 2 int64\nembed 7x4 float32\nscale  float32\nw 4x3 float16\n");
}

TEST(Safetensors, InPartsAreListedPartByPart) {
  const auto read = read_inventory(test_file("sharded/model.safetensors.index.json")).value();
  EXPECT_EQ(listed(read.inventory), "b.bias 3 float32\nb.weight 3x2 float32\na.weight 2x5 float32\n");
}

TEST(Safetensors, TakeTheirOrderFromOffsetsAndNotFromTheHeader) {
  const ModelFile file(with_header("{" + entry("b", "1", 8, 12) + "," + entry("a", "2", 0, 8) + "}", 12),
                       kEnding);
  EXPECT_EQ(listed(read_inventory(file.path()).value().inventory), "a 2 float32\nb 1 float32\n");
}

TEST(Safetensors, RefusesWhatIsWrongAndSaysWhy) {
  const std::string a = entry("a", "2", 0, 8);
  const std::pair<std::string, const char*> kCases[] = {
      {"1234567", "is too short"},
      {std::string(8, '\xff') + "{}", "header has 18446744073709551615 bytes; allowed"},
      {with_header("{" + a + "}", 8).substr(0, 30), "allowed are 100,000,000 and no more than the file has"},
      {with_header("{}", 0), "has no tensors"},
      {with_header("[]", 0), "must have a JSON object"},
      {with_header("{" + a, 8), "is not JSON"},
      {with_header("{" + a + "," + entry("a", "1", 8, 12) + "}", 12), "the name 'a' is there twice"},
      {with_header("{" + a + "," + entry("b", "2", 4, 12) + "}", 12), "overlaps the tensor before"},
      {with_header("{" + a + "," + entry("b", "1", 12, 16) + "}", 16), "leaves a gap"},
      {with_header("{" + a + "}", 12), "has 12 bytes after the header, its tensors fill 8"},
      {with_header("{" + a + "}", 4), "of 4 after the header"},
      {with_header("{" + entry("a", "3", 0, 8) + "}", 8), "does not fit its shape and dtype"},
      {with_header("{" + entry("a", "-2", 0, 8) + "}", 8), "the JSON value -2"},
      {with_header("{" + entry("a", "2.0", 0, 8) + "}", 8), "the JSON value 2.0"},
      {with_header("{" + entry("a", "4294967296,4294967296,4294967296", 0, 8) + "}", 8), "does not fit"},
      {with_header("{" + entry("a", "2", 0, 8, "F31") + "}", 8), "the dtype 'F31' of 'a'"},
      {with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8),
       "lacks dtype, shape or both data_offsets"},
      {with_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8), "bytes 8 to 0"},
      {with_header("{\"__metadata__\":" + std::string(200000, '['), 0), "nested deeper than 16"},
      {with_header("{\"a\":" + std::string(200000, '['), 0), "has no object for 'a'"},
  };
  for (const auto& [bytes, why] : kCases) {
    const std::string got = refusal(bytes, kEnding);
    EXPECT_NE(got.find(why), std::string::npos) << why << "\n" << got;
  }
}

TEST(Safetensors, OfAHundredGigabytesAreReadFromTheirHeader) {
  const std::size_t bytes = 100'000'000'000;
  const ModelFile file(with_header("{" + entry("a", std::to_string(bytes / 4), 0, bytes) + "}", 0), kEnding);
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) + bytes);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(total_elements(read_inventory(file.path()).value().inventory), bytes / 4);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
}

/// ru_maxrss, in KiB.
[[maybe_unused]] long peak_kib() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Safetensors, OfAHundredThousandTensorsCostUnderASecondAndTwoHundredMegabytes) {
  constexpr std::size_t kTensors = 100'000;
  std::string header = "{";
  for (std::size_t i = 0; i < kTensors; ++i)
    header += (i == 0 ? "" : ",") +
              entry("model.layers." + std::to_string(i) + ".weight", "2,3", 24 * i, 24 * i + 24);
  const ModelFile file(with_header(header + "}", 0), kEnding);
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) + 24 * kTensors);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(read_inventory(file.path()).value().inventory.size(), kTensors);
  // Machines that run the tests are busy and may lack optimisation: quadratic would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(peak_kib(), 200'000);
#endif
}

std::string index_refusal(const std::string& map) {
  return refusal("{\"metadata\":{\"total_size\":76},\"weight_map\":" + map + "}", ".safetensors.index.json");
}

TEST(SafetensorsIndex, NamesOnlyFilesBesideIt) {
  for (const char* file : {"../a.safetensors", "/etc/a.safetensors", "b/a.safetensors", "passwd", "a.json",
                           "x\\u0000.safetensors"})
    EXPECT_NE(
        index_refusal("{\"w\":\"" + std::string(file) + "\"}").find("must be a .safetensors file beside"),
        std::string::npos)
        << file;
  EXPECT_NE(index_refusal("{\"w\":\"missing.safetensors\"}").find("cannot be opened"), std::string::npos);
}

TEST(SafetensorsIndex, MustAgreeWithItsParts) {
  const ModelFile part(with_header("{" + entry("a", "2", 0, 8) + "," + entry("b", "1", 8, 12) + "}", 12),
                       "-part.safetensors");
  const std::string name = std::filesystem::path(part.path()).filename();
  const auto map = [&](const std::string& tensors) {
    std::string text = "{";
    for (const char tensor : tensors)
      text += (text.size() == 1 ? "\"" : ",\"") + std::string(1, tensor) + "\":\"" + name + "\"";
    return text + "}";
  };
  EXPECT_EQ(index_refusal(map("ab")), "accepted");
  EXPECT_NE(index_refusal(map("a")).find("has 2 tensors, its index says 1"), std::string::npos);
  EXPECT_NE(index_refusal(map("ac")).find("'b', which its index does not place there"), std::string::npos);
  EXPECT_NE(index_refusal(map("aab")).find("the name 'a' twice"), std::string::npos);
  EXPECT_NE(index_refusal("[]").find("must be an object"), std::string::npos);
  EXPECT_NE(index_refusal("{}").find("has no tensors"), std::string::npos);
}

}  // namespace
}  // namespace steelyard
