#include <filesystem>
#include <map>

#include "src/model/readers/json_walk.hpp"
#include "src/model/readers/readers.hpp"
#include "src/model/readers/safetensors.hpp"
#include "src/model/readers/source_file.hpp"

namespace steelyard::readers {
namespace {

constexpr std::size_t kMostFiles = 10'000;

/// A file beside the index: no folder may be named, and no other kind of file.
bool is_beside(const std::string& name) {
  return name.find('/') == std::string::npos && name.find('\0') == std::string::npos &&
         name.ends_with(".safetensors") && name.size() <= 255;
}

/// {"metadata": {...}, "weight_map": {"name": "model-00001-of-00002.safetensors", ...}}
class Index final : public JsonWalk {
 public:
  std::map<std::string, std::size_t> tensors_in;  ///< By file: how many tensors it must have.
  std::map<std::string, std::string> file_of;     ///< By tensor.

 private:
  bool opened(bool object) override {
    if (object && depth() <= 2) return true;
    return fail("must be an object with the object \"weight_map\"");
  }
  bool closed() override { return true; }

  bool named(const std::string& key) override {
    if (depth() == 1 && key != "weight_map") skip_value();
    if (depth() == 2) key_ = key;
    return file_of.size() < kMostTensors || fail("has more than 1,048,576 tensors");
  }

  bool text(const std::string& value) override {
    if (depth() != 2) return fail("must have an object as \"weight_map\"");
    if (!is_beside(value))
      return fail("names the file '" + shown(value) + "'; it must be a .safetensors file beside the index");
    if (!file_of.emplace(key_, value).second) return fail("has the name '" + shown(key_) + "' twice");
    ++tensors_in[value];
    return tensors_in.size() <= kMostFiles || fail("names more than 10,000 files");
  }

  bool number(std::uint64_t value) override {
    return fail("has the number " + std::to_string(value) + " where none may be");
  }

  std::string key_;
};

Status add_part(const std::string& part, const std::string& name, const Index& index, Builder& builder) {
  auto header = read_safetensors_header(part);
  if (!header) return header.error();
  if (header.value().size() != index.tensors_in.at(name))
    return wrong(part, "has " + std::to_string(header.value().size()) + " tensors, its index says " +
                           std::to_string(index.tensors_in.at(name)));
  for (SafeTensor& tensor : header.value()) {
    const auto found = index.file_of.find(tensor.name);
    if (found == index.file_of.end() || found->second != name)
      return wrong(part, "has the tensor '" + shown(tensor.name) + "', which its index does not place there");
    if (tensor.begin == tensor.end) continue;
    if (const auto why = builder.add(tensor.name, std::move(tensor.shape), *tensor.dtype))
      return wrong(part, "is wrong: " + *why);
  }
  return success();
}

}  // namespace

Expected<InventoryFile> read_safetensors_index(const std::string& path) {
  auto file = SourceFile::open(path);
  if (!file) return file.error();
  if (file.value().size() > kMostTextBytes) return wrong(path, "is longer than 100 MB");
  auto text = file.value().text(0, file.value().size());
  if (!text) return text.error();
  Index index;
  if (!index.read(text.value())) return wrong(path, index.why());
  Builder builder;
  for (const auto& [name, count] : index.tensors_in) {
    const auto part = std::filesystem::path(path).parent_path() / name;
    if (auto added = add_part(part.string(), name, index, builder); !added) return added.error();
  }
  return std::move(builder).finish(path);
}

}  // namespace steelyard::readers
