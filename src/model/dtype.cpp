#include "src/model/dtype.hpp"

#include <algorithm>
#include <array>

namespace steelyard {
namespace {

// Numbers of onnx.proto3, TensorProto.DataType. Types of less than a byte have no place in an inventory.
constexpr std::array kDtypes = {
    Dtype{"float32", "F32", 1, 4, true},
    Dtype{"float64", "F64", 11, 8, true},
    Dtype{"float16", "F16", 10, 2, true},
    Dtype{"bfloat16", "BF16", 16, 2, true},
    Dtype{"float8_e4m3fn", "F8_E4M3", 17, 1, true},
    Dtype{"float8_e4m3fnuz", "F8_E4M3FNUZ", 18, 1, true},
    Dtype{"float8_e5m2", "F8_E5M2", 19, 1, true},
    Dtype{"float8_e5m2fnuz", "F8_E5M2FNUZ", 20, 1, true},
    Dtype{"float8_e8m0fnu", "F8_E8M0", 24, 1, true},
    Dtype{"complex64", "C64", 14, 8, true},
    Dtype{"complex128", "", 15, 16, true},
    Dtype{"int64", "I64", 7, 8, false},
    Dtype{"int32", "I32", 6, 4, false},
    Dtype{"int16", "I16", 5, 2, false},
    Dtype{"int8", "I8", 3, 1, false},
    Dtype{"uint64", "U64", 13, 8, false},
    Dtype{"uint32", "U32", 12, 4, false},
    Dtype{"uint16", "U16", 4, 2, false},
    Dtype{"uint8", "U8", 2, 1, false},
    Dtype{"bool", "BOOL", 9, 1, false},
};

template <typename Claim>
const Dtype* find(Claim&& claim) {
  const auto* const found = std::ranges::find_if(kDtypes, claim);
  return found == kDtypes.end() ? nullptr : found;
}

}  // namespace

const Dtype* dtype_named(std::string_view name) {
  return find([&](const Dtype& type) { return type.name == name; });
}

const Dtype* dtype_of_safetensors(std::string_view name) {
  return find([&](const Dtype& type) { return !name.empty() && type.safetensors == name; });
}

const Dtype* dtype_of_onnx(std::size_t number) {
  return find(
      [&](const Dtype& type) { return number != 0 && static_cast<std::size_t>(type.onnx) == number; });
}

const Dtype* dtype_of_size(bool floating, bool is_signed, std::size_t bytes) {
  if (floating)
    return bytes == 8 ? dtype_named("float64")
                      : dtype_named(bytes == 4   ? "float32"
                                    : bytes == 2 ? "float16"
                                                 : "");
  return dtype_named((is_signed ? "int" : "uint") + std::to_string(8 * bytes));
}

std::string dtype_names() {
  std::string list;
  for (const Dtype& type : kDtypes) list += (list.empty() ? "" : ", ") + std::string(type.name);
  return list;
}

}  // namespace steelyard
