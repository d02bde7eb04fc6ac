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

/// Memory for values and gradients, [layout.elements] each, that somebody else owns.
struct Arenas {
  std::span<float> values;
  std::span<float> gradients;
};

/// Spans stay valid until the layout changes. `inventory` is borrowed.
class Parameters {
 public:
  Parameters(const Inventory& inventory, Layout layout);
  /// @param arenas borrowed; an empty one is replaced by memory of the object's own.
  Parameters(const Inventory& inventory, Layout layout, const Arenas& arenas);

  const Inventory& inventory() const { return inventory_; }
  std::span<float> values(TensorId id) { return slice(arenas_.values, id); }
  std::span<float> gradient(TensorId id) { return slice(arenas_.gradients, id); }
  std::span<float> value_arena() { return arenas_.values; }
  std::span<float> gradient_arena() { return arenas_.gradients; }
  const Layout& layout() const { return layout_; }
  /// From now on tensors lie elsewhere in the arenas, whose contents stay. @param layout of as many elements.
  void set_layout(Layout layout);

  void initialise(std::uint64_t seed);
  /// FNV-1a over the bytes of all values, tensor by tensor: the same for every layout.
  std::uint64_t hash();

 private:
  std::span<float> slice(std::span<float> arena, TensorId id) const {
    return arena.subspan(layout_.begin[id], inventory_[id].elements());
  }

  const Inventory& inventory_;
  Layout layout_;
  AlignedArray<float> values_;
  AlignedArray<float> gradients_;
  Arenas arenas_;
};

/// Tensors one after the other in creation order, without gaps.
Layout packed_layout(const Inventory& inventory);

}  // namespace steelyard
