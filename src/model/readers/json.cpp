#include "src/model/readers/builder.hpp"
#include "src/model/readers/json_walk.hpp"
#include "src/model/readers/readers.hpp"
#include "src/model/readers/source_file.hpp"

namespace steelyard::readers {
namespace {

/// [{"name": "w", "shape": [2, 3], "dtype": "float32", "multiply_adds": 6}, ...]; the last may be left out.
class List final : public JsonWalk {
 public:
  Builder builder;

 private:
  bool opened(bool object) override {
    if (depth() == 1) return !object || fail("must be a list of {\"name\", \"shape\", \"dtype\"}");
    if (depth() == 2) {
      if (!object) return fail("must be a list of objects");
      name_.clear();
      dtype_.clear();
      shape_.reset();
      multiply_adds_.reset();
      return true;
    }
    if (object || key_ != "shape" || shape_ || depth() > 3)
      return fail("has a list or object where none may be, after '" + shown(key_) + "'");
    shape_.emplace();
    return true;
  }

  bool closed() override {
    if (depth() != 1) return true;
    const std::string of = " of '" + shown(name_) + "' ";
    if (!shape_) return fail("has no \"shape\" for '" + shown(name_) + "'; a scalar's is []");
    const Dtype* const dtype = dtype_named(dtype_);
    if (dtype == nullptr)
      return fail("has the dtype '" + shown(dtype_) + "'" + of + "which must be one of: " + dtype_names());
    const auto why = builder.add(name_, *std::move(shape_), *dtype, multiply_adds_);
    return !why || fail("is wrong: " + *why);
  }

  bool named(const std::string& key) override {
    key_ = key;
    return key == "name" || key == "shape" || key == "dtype" || key == "multiply_adds" ||
           fail("has the key '" + shown(key) + "'; allowed are name, shape, dtype, multiply_adds");
  }

  bool text(const std::string& value) override {
    if (depth() != 2 || (key_ != "name" && key_ != "dtype"))
      return fail("has the text '" + shown(value) + "' where none may be");
    (key_ == "name" ? name_ : dtype_) = value;
    return true;
  }

  bool number(std::uint64_t value) override {
    if (depth() == 2 && key_ == "multiply_adds") {
      multiply_adds_ = static_cast<double>(value);
      return true;
    }
    if (depth() != 3) return fail("has the number " + std::to_string(value) + " where none may be");
    shape_->push_back(value);
    return shape_->size() <= kMostAxes || fail("has a shape of more than 64 sizes");
  }

  std::string key_;
  std::string name_;
  std::string dtype_;
  std::optional<Shape> shape_;
  std::optional<double> multiply_adds_;
};

}  // namespace

Expected<InventoryFile> read_json(const std::string& path) {
  auto file = SourceFile::open(path);
  if (!file) return file.error();
  if (file.value().size() > kMostTextBytes) return wrong(path, "is longer than 100 MB");
  auto text = file.value().text(0, file.value().size());
  if (!text) return text.error();
  List list;
  if (!list.read(text.value())) return wrong(path, list.why());
  return std::move(list.builder).finish(path);
}

}  // namespace steelyard::readers
