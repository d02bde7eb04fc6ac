#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/model_file.hpp"

namespace steelyard {
namespace {

using test::bytes_of;
using test::listed;
using test::ModelFile;
using test::refusal;
using test::test_file;

std::string listed_file(const std::string& name) {
  const auto read = read_inventory(test_file(name));
  return read ? listed(read.value().inventory) : read.error().message;
}

/// Names of the v3 layout; `dense` layers of three outputs.
std::string by_layer(int dense) {
  std::string text = "layers/conv2d/vars/0 3x3x1x4 float32\nlayers/conv2d/vars/1 4 float32\n";
  for (int i = 0; i < 4; ++i) text += "layers/batch_normalization/vars/" + std::to_string(i) + " 4 float32\n";
  for (int i = 0; i < dense; ++i) {
    const std::string layer = "layers/dense" + (i == 0 ? "" : "_" + std::to_string(i)) + "/vars/";
    text += layer + "0 " + (i == 0 ? "64x3" : "3x3") + " float32\n" + layer + "1 3 float32\n";
  }
  return text;
}

/// Names of the .h5 layout.
std::string by_weight(int dense, const std::string& before, const std::string& after) {
  std::string text =
      before + "zebra/kernel" + after + " 3x3x1x4 float32\n" + before + "zebra/bias" + after + " 4 float32\n";
  for (const char* name : {"gamma", "beta", "moving_mean", "moving_variance"})
    text += before + "batch_normalization/" + name + after + " 4 float32\n";
  for (int i = 0; i < dense; ++i) {
    const std::string layer = before + "dense" + (i == 0 ? "" : "_" + std::to_string(i));
    text += layer + "/kernel" + after + " " + (i == 0 ? "64x3" : "3x3") + " float32\n" + layer + "/bias" +
            after + " 3 float32\n";
  }
  return text;
}

TEST(Keras, ArchivesAreListedWithoutOptimizerAndMetrics) {
  EXPECT_EQ(listed_file("keras3.keras"), by_layer(2));
  EXPECT_EQ(listed_file("keras2.keras"), by_layer(2));
}

TEST(Keras, WeightsAreListedInTheOrderOfLayersAndNotOfTheirNames) {
  EXPECT_EQ(listed_file("keras3.weights.h5"), by_layer(11));
  EXPECT_EQ(listed_file("keras2.weights.h5"), by_layer(11));
}

TEST(Keras, ModelsInHdf5AreListedByTheirAttributes) {
  EXPECT_EQ(listed_file("keras2_model.h5"), by_weight(2, "", ":0"));
  EXPECT_EQ(listed_file("keras3_model.h5"), by_weight(2, "sequential/", ""));
  EXPECT_EQ(listed_file("keras2_legacy.h5"), by_weight(11, "", ":0"));
}

TEST(Keras, CutAnywhereIsRefusedOrRightAndNeverEndsTheProgram) {
  const std::string whole = bytes_of(test_file("keras3.weights.h5"));
  const std::string right = by_layer(11);
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 40) {
    const ModelFile file(whole.substr(0, size), ".h5");
    const auto read = read_inventory(file.path());
    EXPECT_EQ(read ? listed(read.value().inventory) : right, right) << size;
  }
  EXPECT_NE(refusal(whole.substr(0, whole.size() / 2), ".h5"), "accepted");
}

TEST(Keras, BytesTurnedOverNeverEndTheProgram) {
  const std::string whole = bytes_of(test_file("keras2_model.h5"));
  for (std::size_t at = 0; at < 4000; at += 53) {
    std::string broken = whole;
    broken[at] = static_cast<char>(~broken[at]);
    EXPECT_FALSE(refusal(broken, ".h5").empty());
  }
}

TEST(Keras, OtherFilesAreRefused) {
  EXPECT_NE(refusal("", ".h5").find("holds no HDF5"), std::string::npos);
  EXPECT_NE(refusal("", ".keras").find("is no zip archive"), std::string::npos);
  EXPECT_NE(refusal(bytes_of(test_file("keras2_model.h5")), ".keras").find("is no zip archive"),
            std::string::npos);
  std::string other = bytes_of(test_file("keras3.keras"));
  for (std::size_t at = other.find("model.weights.h5"); at != std::string::npos;
       at = other.find("model.weights.h5", at))
    other[at] = 'n';
  EXPECT_NE(refusal(other, ".keras").find("has no model.weights.h5"), std::string::npos);
}

/// Sets a field of the weights' entry in the archive's directory: 2 bytes at `offset` of it.
std::string with_entry(std::size_t offset, char value) {
  std::string archive = bytes_of(test_file("keras3.keras"));
  const std::size_t entry = archive.rfind("model.weights.h5") - 46;
  EXPECT_EQ(archive.substr(entry, 4), "PK\x01\x02");
  archive[entry + offset] = value;
  return archive;
}

TEST(Keras, ArchivesThatCouldGrowAreRefused) {
  EXPECT_NE(refusal(with_entry(10, 8), ".keras").find("compressed, which Keras does not do"),
            std::string::npos);
  EXPECT_NE(refusal(with_entry(8, 1), ".keras").find("compressed"), std::string::npos);
  EXPECT_NE(refusal(with_entry(27, 0x40), ".keras").find("compressed"),
            std::string::npos);  // 1 GiB from 33 KB.
}

}  // namespace
}  // namespace steelyard
