#pragma once

/// @file
/// Values and gradients of every tensor, in two arenas of one layout.

#include <cstdint>
#include <span>

#include "src/base/aligned.hpp"
#include "src/model/inventory.hpp"

namespace steelyard {

/// Initial values of elements [begin, begin + values.size()) of `tensor`: a function of the seed and the
/// position alone, so a server can make just the pieces that it owns.
void initial_values(const Inventory& inventory, TensorId tensor, std::uint64_t seed, std::size_t begin,
                    std::span<float> values);

/// Spans stay valid for the object's lifetime. `inventory` is borrowed.
class Parameters {
 public:
  Parameters(const Inventory& inventory, Layout layout);

  const Inventory& inventory() const { return inventory_; }
  std::span<float> values(TensorId id) { return slice(values_, id); }
  std::span<float> gradient(TensorId id) { return slice(gradients_, id); }
  std::span<float> value_arena() { return values_.span(); }
  std::span<float> gradient_arena() { return gradients_.span(); }
  const Layout& layout() const { return layout_; }

  void initialise(std::uint64_t seed);
  /// FNV-1a over the bytes of all values, tensor by tensor: the same for every layout.
  std::uint64_t hash();

 private:
  std::span<float> slice(AlignedArray<float>& arena, TensorId id) {
    return arena.span().subspan(layout_.begin[id], inventory_[id].elements());
  }

  const Inventory& inventory_;
  Layout layout_;
  AlignedArray<float> values_;
  AlignedArray<float> gradients_;
};

/// Tensors one after the other in creation order, without gaps.
Layout packed_layout(const Inventory& inventory);

}  // namespace steelyard
