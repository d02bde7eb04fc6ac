// A data file is never trusted: whatever is wrong with it is said, with its name.
#include "src/data/idx.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace steelyard {
namespace {

using Bytes = std::string;

Bytes big_endian(std::uint32_t value) {
  Bytes bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}

Bytes images(std::uint32_t count) {
  return Bytes("\0\0\x08\x03", 4) + big_endian(count) + big_endian(2) + big_endian(3) +
         Bytes(count * 6, '\x05');
}

Bytes labels(std::uint32_t count) {
  return Bytes("\0\0\x08\x01", 4) + big_endian(count) + Bytes(count, '\x01');
}

class Idx : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("idx_test-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name, const Bytes& bytes) const {
    const std::string path = directory_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string gzip(const std::string& name, const Bytes& bytes) const {
    const std::string path = directory_ / name;
    gzFile out = gzopen(path.c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
    return path;
  }
  static std::string reason(const std::string& path) {
    const auto read = read_idx(path, 3);
    EXPECT_FALSE(read) << path;
    return read ? "" : read.error().message;
  }

  std::filesystem::path directory_;
};

TEST_F(Idx, ReadsPlainAndGzip) {
  for (const std::string& path : {file("plain", images(4)), gzip("packed.gz", images(4))}) {
    const auto read = read_idx(path, 3);
    ASSERT_TRUE(read);
    EXPECT_EQ(read.value().shape, (std::vector<std::size_t>{4, 2, 3}));
    EXPECT_EQ(read.value().bytes, std::vector<std::uint8_t>(24, 5));
  }
}

TEST_F(Idx, EveryTruncationIsRefused) {
  const Bytes whole = images(4);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(reason(file("cut", whole.substr(0, size))).find("cut: "), std::string::npos) << size;
}

TEST_F(Idx, EveryTruncationOfGzipIsRefused) {
  std::ifstream in(gzip("whole.gz", images(50)), std::ios::binary);
  const Bytes packed((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(reason(file("cut.gz", packed.substr(0, size))).empty()) << size;
}

TEST_F(Idx, SaysWhatIsWrong) {
  EXPECT_NE(reason(directory_ / "none").find("No such file"), std::string::npos);
  EXPECT_NE(reason(directory_).find("not a regular file"), std::string::npos);
  EXPECT_NE(reason(file("text", "hello, this is no data")).find("not an IDX file"), std::string::npos);
  EXPECT_NE(reason(file("labels", labels(40))).find("not an IDX file of bytes with 3 axes"),
            std::string::npos);
  EXPECT_NE(reason(file("more", images(4) + "x")).find("goes on"), std::string::npos);
  const Bytes huge =
      Bytes("\0\0\x08\x03", 4) + big_endian(0xFFFFFFFFU) + big_endian(0xFFFFFFFFU) + big_endian(0xFFFFFFFFU);
  EXPECT_NE(reason(file("huge", huge)).find("axis 1"), std::string::npos);
  const Bytes large = Bytes("\0\0\x08\x03", 4) + big_endian(1000) + big_endian(1000) + big_endian(1000);
  EXPECT_NE(reason(file("large", large)).find("truncated"), std::string::npos)
      << "and no gigabyte is allocated first";
  EXPECT_NE(reason(file("none", images(0))).find("size 0"), std::string::npos);
}

TEST_F(Idx, ImagesAndLabelsMustBelongTogether) {
  const auto pair = read_idx_samples(file("i", images(4)), file("l", labels(5)));
  ASSERT_FALSE(pair);
  EXPECT_NE(pair.error().message.find("4 images, 5 labels"), std::string::npos);
}

TEST_F(Idx, AnyFlippedByteIsReadOrRefusedButNeverWorse) {
  std::mt19937 random(1);
  const Bytes whole = images(4);
  std::ifstream in(gzip("whole.gz", whole), std::ios::binary);
  const Bytes packed((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (int i = 0; i < 2000; ++i) {
    Bytes damaged = i % 2 == 0 ? whole : packed;
    damaged[random() % damaged.size()] ^= static_cast<char>(1U << (random() % 8U));
    const auto read = read_idx(file("damaged", damaged), 3);
    EXPECT_TRUE(read || !read.error().message.empty());
  }
}

TEST(Datasets, TheSampleThatComesAlongIsReal) {
  const auto sample = load_dataset({"fashion-mnist-sample", "", 784, 10, 0});
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_EQ(sample.value().train.count, 3000U);
  EXPECT_EQ(sample.value().test.count, 600U);
  EXPECT_NEAR(sample.value().mean, 0.286, 0.01);  // Of the whole training set: 0.2860, 0.3530.
  EXPECT_NEAR(sample.value().deviation, 0.353, 0.01);
}

TEST(Datasets, AModelOfAnotherShapeIsRefused) {
  const auto wrong = load_dataset({"fashion-mnist-sample", "", 100, 10, 0});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("784 values per sample, the model takes 100"), std::string::npos);
  const auto few = load_dataset({"fashion-mnist-sample", "", 784, 5, 0});
  ASSERT_FALSE(few);
  EXPECT_NE(few.error().message.find("the model has 5 outputs"), std::string::npos);
}

}  // namespace
}  // namespace steelyard
