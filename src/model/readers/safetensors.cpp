#include "src/model/readers/safetensors.hpp"

#include <algorithm>
#include <array>

#include "src/model/readers/json_walk.hpp"
#include "src/model/readers/readers.hpp"
#include "src/model/readers/source_file.hpp"

namespace steelyard::readers {
namespace {

constexpr std::size_t kLengthBytes = 8;

/// {"__metadata__": {...}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
class Header final : public JsonWalk {
 public:
  std::vector<SafeTensor> tensors;

 private:
  bool opened(bool object) override {
    if (depth() == 1) return object || fail("must have a JSON object as its header");
    if (depth() == 2) return object || fail("has no object for '" + shown(tensors.back().name) + "'");
    const bool list = !object && depth() == 3;
    if (!list || (key_ != "shape" && key_ != "data_offsets"))
      return fail("has a list or object where none may be, after '" + shown(key_) + "'");
    (key_ == "shape" ? has_shape_ : has_offsets_) = true;
    return true;
  }

  bool closed() override {
    if (depth() != 1) return true;
    const SafeTensor& tensor = tensors.back();
    return (tensor.dtype != nullptr && has_shape_ && offsets_ == 2) ||
           fail("lacks dtype, shape or both data_offsets of '" + shown(tensor.name) + "'");
  }

  bool named(const std::string& key) override {
    key_ = key;
    if (depth() == 2)
      return key == "dtype" || key == "shape" || key == "data_offsets" ||
             fail("has the key '" + shown(key) + "'; allowed are dtype, shape, data_offsets");
    if (key == "__metadata__") {
      skip_value();
      return true;
    }
    if (tensors.size() == kMostTensors) return fail("has more than 1,048,576 tensors");
    tensors.emplace_back().name = key;
    has_shape_ = has_offsets_ = false;
    offsets_ = 0;
    return true;
  }

  bool text(const std::string& value) override {
    if (depth() != 2 || key_ != "dtype") return fail("has the text '" + shown(value) + "' where none may be");
    tensors.back().dtype = dtype_of_safetensors(value);
    return tensors.back().dtype != nullptr || fail("has the dtype '" + shown(value) + "' of '" +
                                                   shown(tensors.back().name) + "', which is not known here");
  }

  bool number(std::uint64_t value) override {
    if (depth() != 3) return fail("has the number " + std::to_string(value) + " where none may be");
    SafeTensor& tensor = tensors.back();
    if (key_ == "shape") {
      tensor.shape.push_back(value);
      return tensor.shape.size() <= kMostAxes || fail("has a shape of more than 64 sizes");
    }
    (offsets_ == 0 ? tensor.begin : tensor.end) = value;
    return ++offsets_ <= 2 || fail("has more than two data_offsets of '" + shown(tensor.name) + "'");
  }

  std::string key_;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  int offsets_ = 0;
};

/// As the format asks: each as long as its shape and dtype say, one after the other, up to the file's end.
Status check_offsets(const std::string& path, const std::vector<SafeTensor>& tensors, std::size_t bytes) {
  std::size_t end = 0;
  for (const SafeTensor& tensor : tensors) {
    const std::string range = "the bytes " + std::to_string(tensor.begin) + " to " +
                              std::to_string(tensor.end) + " for '" + shown(tensor.name) + "'";
    if (tensor.begin > tensor.end || tensor.end > bytes)
      return wrong(path, "has " + range + ", of " + std::to_string(bytes) + " after the header");
    if (tensor.begin != end)
      return wrong(path, "has " + range + ", which " +
                             (tensor.begin < end ? "overlaps" : "leaves a gap after") +
                             " the tensor before; it ends at " + std::to_string(end));
    const auto elements = count_elements(tensor.shape);
    if (!elements || *elements * tensor.dtype->bytes != tensor.end - tensor.begin)
      return wrong(path, "has " + range + ", which does not fit its shape and dtype");
    end = tensor.end;
  }
  if (end != bytes)
    return wrong(path, "has " + std::to_string(bytes) + " bytes after the header, its tensors fill " +
                           std::to_string(end));
  return success();
}

}  // namespace

Expected<std::vector<SafeTensor>> read_safetensors_header(const std::string& path) {
  auto opened = SourceFile::open(path);
  if (!opened) return opened.error();
  const SourceFile& file = opened.value();
  std::array<char, kLengthBytes> head{};
  if (file.read_at(0, head) != head.size()) return wrong(path, "is too short for a safetensors header");
  std::size_t length = 0;
  for (std::size_t i = head.size(); i-- > 0;) length = length << 8U | static_cast<unsigned char>(head[i]);
  if (length > kMostTextBytes || length > file.size() - kLengthBytes)
    return wrong(path, "says that its header has " + std::to_string(length) +
                           " bytes; allowed are 100,000,000 and no more than the file has");
  auto text = file.text(kLengthBytes, length);
  if (!text) return text.error();
  Header header;
  if (!header.read(text.value())) return wrong(path, header.why());
  std::ranges::stable_sort(header.tensors, {}, [](const SafeTensor& t) { return std::pair(t.begin, t.end); });
  auto fits = check_offsets(path, header.tensors, file.size() - kLengthBytes - length);
  if (!fits) return fits.error();
  return std::move(header.tensors);
}

Expected<InventoryFile> read_safetensors(const std::string& path) {
  auto header = read_safetensors_header(path);
  if (!header) return header.error();
  Builder builder;
  for (SafeTensor& tensor : header.value()) {
    if (tensor.begin == tensor.end) continue;  // Without elements: nothing to place.
    if (const auto why = builder.add(tensor.name, std::move(tensor.shape), *tensor.dtype))
      return wrong(path, "is wrong: " + *why);
  }
  return std::move(builder).finish(path);
}

}  // namespace steelyard::readers
