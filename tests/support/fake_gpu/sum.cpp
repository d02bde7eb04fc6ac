#include "tests/support/fake_gpu/sum.hpp"

#include <cstdint>
#include <string>

#include "kernels/convert.hpp"
#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

struct Itself {
  template <typename T>
  T operator()(T value) const {
    return value;
  }
};

/// @param T as it is stored. @param From, To make a number of it, and the reverse.
template <typename T, typename From = Itself, typename To = Itself>
void add_as(std::byte* target, const std::byte* source, std::size_t count) {
  auto* to = reinterpret_cast<T*>(target);
  const auto* from = reinterpret_cast<const T*>(source);
  for (std::size_t n = 0; n < count; ++n) to[n] = To{}(From{}(from[n]) + From{}(to[n]));
}

}  // namespace

void add(ncclDataType_t type, std::byte* target, const std::byte* source, std::size_t count) {
  switch (type) {
    case ncclFloat32:
      return add_as<float>(target, source, count);
    case ncclFloat64:
      return add_as<double>(target, source, count);
    case ncclFloat16:
      return add_as<std::uint16_t, kernels::FromHalf, kernels::ToHalf>(target, source, count);
    case ncclBfloat16:
      return add_as<std::uint16_t, kernels::FromBfloat, kernels::ToBfloat>(target, source, count);
    case ncclInt32:
    case ncclUint32:
      return add_as<std::uint32_t>(target, source, count);
    case ncclInt64:
    case ncclUint64:
      return add_as<std::uint64_t>(target, source, count);
    default:
      refuse("a sum of NCCL's type " + std::to_string(type) + ", which this library does not stand in for");
  }
}

}  // namespace steelyard::fake_gpu
