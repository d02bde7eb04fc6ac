#include "src/model/readers/hdf5_tree.hpp"

#include <algorithm>

namespace steelyard::readers {
namespace {

constexpr std::size_t kMostAttributeBytes = std::size_t{1} << 26U;

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
#else
using ObjectInfo = H5O_info_t;
#endif

std::string trimmed(const char* text, std::size_t most) {
  return {text, static_cast<std::size_t>(std::find(text, text + most, '\0') - text)};
}

std::optional<std::vector<std::string>> read_variable(hid_t attribute, hid_t space, std::size_t count) {
  const Hdf5Id memory(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(memory.id(), H5T_VARIABLE);
  const Hdf5Id own(H5Aget_type(attribute), H5Tclose);
  H5Tset_cset(memory.id(), H5Tget_cset(own.id()));
  std::vector<char*> pointers(count, nullptr);
  if (H5Aread(attribute, memory.id(), pointers.data()) < 0) return std::nullopt;
  std::vector<std::string> values;
  for (const char* pointer : pointers) values.emplace_back(pointer == nullptr ? "" : pointer);
  H5Dvlen_reclaim(memory.id(), space, H5P_DEFAULT, pointers.data());
  return values;
}

std::optional<std::vector<std::string>> read_fixed(hid_t attribute, hid_t type, std::size_t count) {
  const std::size_t size = H5Tget_size(type);
  if (size == 0 || size > kMostAttributeBytes / (count + 1)) return std::nullopt;
  std::vector<char> bytes(size * count);
  if (H5Aread(attribute, type, bytes.data()) < 0) return std::nullopt;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(trimmed(bytes.data() + i * size, size));
  return values;
}

std::optional<std::vector<std::string>> read_text(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return std::nullopt;
  const Hdf5Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Hdf5Id type(H5Aget_type(attribute.id()), H5Tclose);
  const Hdf5Id space(H5Aget_space(attribute.id()), H5Sclose);
  if (!attribute.valid() || !type.valid() || !space.valid()) return std::nullopt;
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (count < 0 || static_cast<std::size_t>(count) > kMostTensors) return std::nullopt;
  if (count == 0) return std::vector<std::string>{};  // An empty list has numbers' type in NumPy.
  if (H5Tget_class(type.id()) != H5T_STRING) return std::nullopt;
  if (H5Tis_variable_str(type.id()) > 0)
    return read_variable(attribute.id(), space.id(), static_cast<std::size_t>(count));
  return read_fixed(attribute.id(), type.id(), static_cast<std::size_t>(count));
}

std::string plain_dtype(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  const Dtype* found = nullptr;
  if (kind == H5T_FLOAT || kind == H5T_INTEGER)
    found = dtype_of_size(kind == H5T_FLOAT, H5Tget_sign(type) == H5T_SGN_2, H5Tget_size(type));
  return found == nullptr ? std::string() : std::string(found->name);
}

}  // namespace

Hdf5Id open_object(hid_t parent, const std::string& path) {
  return {H5Oopen(parent, path.c_str(), H5P_DEFAULT), H5Oclose};
}

bool is_group(hid_t object) { return H5Iget_type(object) == H5I_GROUP || H5Iget_type(object) == H5I_FILE; }

std::vector<std::string> members(hid_t group) {
  H5G_info_t info{};
  if (H5Gget_info(group, &info) < 0) return {};
  std::vector<std::string> names;
  for (hsize_t i = 0; i < std::min<hsize_t>(info.nlinks, kMostTensors); ++i) {
    std::string name(kMostNameBytes, '\0');
    const ssize_t length =
        H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    if (length <= 0 || static_cast<std::size_t>(length) >= kMostNameBytes) return names;
    name.resize(static_cast<std::size_t>(length));
    H5L_info_t link{};
    if (H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD)
      names.push_back(name);
  }
  return names;
}

std::optional<std::vector<std::string>> text_attribute(hid_t object, const std::string& name) {
  if (auto whole = read_text(object, name)) return whole;
  std::vector<std::string> all;
  for (std::size_t piece = 0; all.size() <= kMostTensors; ++piece) {
    const auto values = read_text(object, name + std::to_string(piece));
    if (!values) return piece == 0 ? std::nullopt : std::optional(all);
    all.insert(all.end(), values->begin(), values->end());
  }
  return std::nullopt;
}

std::optional<Hdf5Tensor> describe_dataset(hid_t object) {
  if (H5Iget_type(object) != H5I_DATASET) return std::nullopt;
  const Hdf5Id space(H5Dget_space(object), H5Sclose);
  const Hdf5Id type(H5Dget_type(object), H5Tclose);
  const int axes = H5Sget_simple_extent_ndims(space.id());
  ObjectInfo info{};
  if (axes < 0 || axes > H5S_MAX_RANK || !type.valid() || H5Oget_info1(object, &info) < 0)
    return std::nullopt;
  std::vector<hsize_t> sizes(static_cast<std::size_t>(axes));
  if (axes > 0 && H5Sget_simple_extent_dims(space.id(), sizes.data(), nullptr) != axes) return std::nullopt;
  Hdf5Tensor tensor{{sizes.begin(), sizes.end()}, plain_dtype(type.id()), info.addr};
  // What HDF5 has no type for, such as bfloat16, Keras names in an attribute.
  if (const auto named = text_attribute(object, "dtype"); named && named->size() == 1)
    if (const Dtype* dtype = dtype_named(named->front())) tensor.dtype = dtype->name;
  return tensor;
}

}  // namespace steelyard::readers
