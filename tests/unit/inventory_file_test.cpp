#include "src/model/inventory_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "src/model/model.hpp"
#include "tests/support/model_file.hpp"

namespace steelyard {
namespace {

using test::ModelFile;
using test::refusal;

TEST(InventoryFile, HasThePublishedCounts) {
  const std::pair<const char*, std::size_t> kCounts[] = {
      {"lenet", 61706},       {"mnist-fc", 242762},  {"resnet50", 25557032},     {"vgg16", 138357544},
      {"googlenet", 6624904}, {"alexnet", 61100840}, {"inception_v3", 27161264}, {"bert-base", 109482240},
      {"gpt2", 124439808},    {"dlrm", 197904417}};
  for (const auto& [name, count] : kCounts)
    EXPECT_EQ(total_elements(describe_model(std::string("replay:") + name).value().inventory), count) << name;
  const std::string names = inventory_names();
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(names, ',')) + 1, std::size(kCounts));
}

TEST(InventoryFile, OfLenetIsTheBuiltInModel) {
  const Inventory built_in = describe_model("lenet").value().inventory;
  const Inventory file = describe_model("replay:lenet").value().inventory;
  ASSERT_EQ(built_in.size(), file.size());
  for (std::size_t i = 0; i < file.size(); ++i) {
    EXPECT_EQ(built_in[i].name, file[i].name);
    EXPECT_EQ(built_in[i].shape, file[i].shape);
  }
}

TEST(InventoryFile, OfDlrmHasTablesOfVeryUnequalSize) {
  const Inventory dlrm = read_inventory("dlrm").value().inventory;
  std::vector<std::size_t> rows;
  for (const Tensor& tensor : dlrm)
    if (tensor.name.starts_with("emb_l.")) rows.push_back(tensor.shape.front());
  EXPECT_EQ(rows, (std::vector<std::size_t>{1460, 583, 10131227, 2202608, 305, 24, 12517, 633}));
}

TEST(InventoryFile, WithoutOperationsCountsElements) {
  const ModelFile file("# a comment, with commas\nname,shape,dtype\nw,2x3,float32\ns,,float32\n", ".csv");
  const auto read = read_inventory(file.path()).value();
  EXPECT_EQ(read.operations, (std::vector<double>{6.0, 1.0}));
}

TEST(InventoryFile, KnowsTheBytesOfEveryDtype) {
  const ModelFile file("name,shape,dtype\na,3,float16\nb,3,float64\nc,3,int8\nd,3,complex128\ne,3,float32\n",
                       ".csv");
  const Inventory inventory = read_inventory(file.path()).value().inventory;
  std::vector<std::size_t> bytes;
  for (const Tensor& tensor : inventory) bytes.push_back(tensor.bytes());
  EXPECT_EQ(bytes, (std::vector<std::size_t>{6, 24, 3, 48, 12}));
  EXPECT_EQ(inventory[0].dtype, "float16");
}

TEST(InventoryFile, OfAnotherDtypeIsReadButNotTrained) {
  const ModelFile file("name,shape,dtype\na,3,float32\nb,3,float16\n", ".csv");
  EXPECT_TRUE(read_inventory(file.path()));
  const auto model = describe_model("replay:" + file.path());
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("dtype 'float16' of 'b': only float32 is trained"), std::string::npos);
}

TEST(InventoryFile, OfCsvRefusesWhatIsWrongAndSaysWhy) {
  const std::string head = "name,shape,dtype\n";
  const std::pair<std::string, const char*> kCases[] = {
      {"name,shape\nw,2\n", "has no column 'dtype'"},
      {head, "has no tensors"},
      {head + "w,2xx3,float32\n", "line 2: shape '2xx3'"},
      {head + "w,-2,float32\n", "shape '-2'"},
      {head + "w,0,float32\n", "shape '0'"},
      {head + "w,99999999999x99999999999,float32\n", "shape"},
      {head + "w,2,float31\n", "dtype 'float31' of 'w' must be one of: float32, float64"},
      {head + "w,2,float32\nw,2,float32\n", "line 3: the name 'w' is there twice"},
      {head + "w,2\n", "cannot be read"},
      {"name,shape,dtype,multiply_adds\nw,2,float32,-1\n", "multiply_adds"},
      {"name,shape,dtype,multiply_adds\nw,2,float32,x\n", "cannot be read"},
  };
  for (const auto& [text, why] : kCases)
    EXPECT_NE(refusal(text, ".csv").find(why), std::string::npos) << text;
}

TEST(InventoryFile, SaysWhatNamesAndEndingsThereAre) {
  const std::string unknown = read_inventory("alexnut").error().message;
  EXPECT_NE(unknown.find("choose one of: alexnet, bert-base, dlrm"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find(".csv, .safetensors, .safetensors.index.json, .json, .onnx, .keras, .h5"),
            std::string::npos);
  EXPECT_NE(
      read_inventory("/nowhere/a.onnx").error().message.find("there is no model file '/nowhere/a.onnx'"),
      std::string::npos);
  EXPECT_NE(refusal("x", ".pth").find("is not known by its ending"), std::string::npos);
  EXPECT_NE(refusal("x", "").find("is not known by its ending"), std::string::npos);
  const ModelFile pickle("x", ".pth");
  std::filesystem::current_path(std::filesystem::path(pickle.path()).parent_path());
  const std::string name = std::filesystem::path(pickle.path()).filename();
  EXPECT_NE(read_inventory(name).error().message.find("is not known by its ending"), std::string::npos);
}

TEST(InventoryFile, IsNoFolderAndNoPipe) {
  const auto folder = std::filesystem::temp_directory_path() / "steelyard-folder.onnx";
  std::filesystem::create_directory(folder);
  EXPECT_NE(read_inventory(folder.string()).error().message.find("there is no model file"),
            std::string::npos);
  std::filesystem::remove(folder);
}

TEST(InventoryFile, NamesInMessagesHaveNoControlCharacters) {
  const std::string why = refusal("name,shape,dtype\n\x1b[31mred,2,float\x07\n", ".csv");
  EXPECT_TRUE(std::ranges::none_of(why, [](char c) { return static_cast<unsigned char>(c) < 0x20; })) << why;
}

}  // namespace
}  // namespace steelyard
