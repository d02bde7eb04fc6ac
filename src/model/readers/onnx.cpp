#include <charconv>

#include "src/model/readers/builder.hpp"
#include "src/model/readers/readers.hpp"
#include "src/model/readers/wire.hpp"

namespace steelyard::readers {
namespace {

// Field numbers of onnx.proto3.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphInitializer = 5;
constexpr std::uint32_t kGraphSparseInitializer = 15;
enum TensorField : std::uint32_t {
  dims = 1,
  data_type = 2,
  segment = 3,
  float_data = 4,
  name = 8,
  raw_data = 9,
  double_data = 10,
  external_data = 13,
  data_location = 14,
};
constexpr std::uint32_t kEntryKey = 1;
constexpr std::uint32_t kEntryValue = 2;

struct Initializer {
  std::string name;
  Shape shape;
  std::uint64_t type = 0;
  bool external = false;
  bool cut = false;                        ///< A segment of a tensor.
  std::size_t typed_bytes = 0;             ///< In float_data or double_data.
  std::optional<std::size_t> raw_bytes{};  ///< In raw_data, or as said of the external file.
};

class Graph {
 public:
  explicit Graph(const SourceFile& file) : input_(file) {}

  std::optional<std::string> read() {
    WireMessage model(input_, 0, input_.size());
    bool found = false;
    while (const auto field = model.next()) {
      if (field->number != kModelGraph || field->kind != 2) continue;
      if (found) return "has two graphs";
      found = true;
      if (auto why = read_graph({input_, field->begin, field->end})) return why;
    }
    if (model.broken()) return kBroken;
    return found ? std::nullopt : std::optional<std::string>("is no ONNX model: it has no graph");
  }

  Builder builder;

 private:
  static constexpr const char* kBroken = "is no ONNX model, or ends early";

  std::optional<std::string> read_graph(WireMessage graph) {
    while (const auto field = graph.next()) {
      if (field->number == kGraphSparseInitializer) return "has sparse initializers, which are not supported";
      if (field->number != kGraphInitializer || field->kind != 2) continue;
      Initializer initializer;
      if (auto why = read_tensor({input_, field->begin, field->end}, initializer)) return why;
      if (auto why = add(initializer)) return why;
    }
    return graph.broken() ? std::optional<std::string>(kBroken) : std::nullopt;
  }

  std::optional<std::string> read_tensor(WireMessage tensor, Initializer& made) {
    while (const auto field = tensor.next()) {
      const bool counted = field->kind == 2;
      if (field->number == dims && !read_sizes(*field, made.shape)) return kBroken;
      if (field->number == data_type && field->kind == 0) made.type = field->value;
      if (field->number == segment) made.cut = true;
      if (field->number == float_data || field->number == double_data)
        made.typed_bytes += field->end - field->begin;
      if (field->number == name && counted && !read_text(*field, made.name))
        return "has a name longer than 4096 bytes";
      if (field->number == raw_data && counted) made.raw_bytes = field->end - field->begin;
      if (field->number == data_location && field->kind == 0) made.external = field->value == 1;
      if (field->number == external_data && counted)
        if (auto why = read_entry({input_, field->begin, field->end}, made)) return why;
    }
    return tensor.broken() ? std::optional<std::string>(kBroken) : std::nullopt;
  }

  /// Sizes one by one, or packed. @return whether they are sizes, and no more than 64.
  bool read_sizes(const WireField& field, Shape& shape) {
    if (field.kind == 0) shape.push_back(field.value);
    if (field.kind == 2) {
      WireMessage packed(input_, field.begin, field.end);
      while (!packed.at_end() && shape.size() <= kMostAxes) {
        const auto size = packed.varint();
        if (!size) return false;
        shape.push_back(*size);
      }
    }
    return shape.size() <= kMostAxes;
  }

  bool read_text(const WireField& field, std::string& text) {
    const std::size_t count = field.end - field.begin;
    if (count > kMostNameBytes) return false;
    auto bytes = input_.file().text(field.begin, count);
    if (!bytes) return false;
    text = std::move(bytes).value();
    return true;
  }

  /// Key and value; of those only the length concerns us, the external file is never opened.
  std::optional<std::string> read_entry(WireMessage entry, Initializer& made) {
    std::string key;
    std::string value;
    while (const auto field = entry.next())
      if (field->kind == 2 && (field->number == kEntryKey || field->number == kEntryValue) &&
          !read_text(*field, field->number == kEntryKey ? key : value))
        return "has external data described by more than 4096 bytes";
    if (entry.broken()) return kBroken;
    if (key != "length") return std::nullopt;
    std::size_t length = 0;
    const auto [rest, code] = std::from_chars(value.data(), value.data() + value.size(), length);
    if (code != std::errc() || rest != value.data() + value.size())
      return "has external data of the length '" + shown(value) + "'";
    made.raw_bytes = length;
    return std::nullopt;
  }

  std::optional<std::string> add(Initializer& made) {
    const std::string named = "'" + shown(made.name) + "'";
    const Dtype* const dtype = dtype_of_onnx(made.type);
    constexpr std::uint64_t kText = 8;
    if (made.type == kText || (dtype != nullptr && !dtype->floating)) return std::nullopt;
    if (dtype == nullptr)
      return "has the data type " + std::to_string(made.type) + " of " + named + ", which is not known here";
    if (made.cut) return "has a segment of the tensor " + named + "; whole tensors are supported";
    const auto elements = count_elements(made.shape);
    if (!elements) return "has more than 2^44 elements, or a negative size, in " + named;
    const std::size_t bytes = *elements * dtype->bytes;
    const std::size_t there = made.raw_bytes.value_or(made.typed_bytes);
    const bool known = made.raw_bytes || made.typed_bytes > 0 || !made.external;
    // 16-bit and smaller numbers may stand in int32_data, as varints that do not tell their number.
    const bool varints = !made.raw_bytes && made.typed_bytes == 0 && dtype->bytes < 4;
    if (known && !varints && there != bytes)
      return "has " + std::to_string(there) + " bytes for " + named + ", whose shape and type need " +
             std::to_string(bytes);
    if (*elements == 0) return std::nullopt;
    if (auto why = builder.add(made.name, std::move(made.shape), *dtype)) return "is wrong: " + *why;
    return std::nullopt;
  }

  WireInput input_;
};

}  // namespace

Expected<InventoryFile> read_onnx(const std::string& path) {
  auto file = SourceFile::open(path);
  if (!file) return file.error();
  Graph graph(file.value());
  if (const auto why = graph.read()) return wrong(path, *why);
  return std::move(graph.builder).finish(path);
}

}  // namespace steelyard::readers
