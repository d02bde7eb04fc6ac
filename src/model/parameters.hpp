#pragma once

/// @file
/// Values and gradients of every tensor, in two arenas of one layout.

#include <cstdint>
#include <span>
#include <vector>

#include "src/base/aligned.hpp"
#include "src/model/inventory.hpp"

namespace steelyard {

/// Initial values of elements [begin, begin + values.size()) of `tensor`: a function of the seed and the
/// position alone, so a server can make just the pieces that it owns.
void initial_values(const Inventory& inventory, TensorId tensor, std::uint64_t seed, std::size_t begin,
                    std::span<float> values);

/// Memory that the host cannot look at. It owns what it has allocated.
class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;
  /// [elements], zero.
  virtual std::span<float> allocate(std::size_t elements) = 0;
  /// to[n] = from[n] in this memory, when all that was queued there before is done.
  virtual void read(std::span<const float> from, std::span<float> to) = 0;
  /// to[n] = from[n], `to` in this memory.
  virtual void write(std::span<const float> from, std::span<float> to) = 0;
};

/// Memory for values and gradients, [layout.elements] each, that somebody else owns.
struct Arenas {
  std::span<float> values;
  std::span<float> gradients;
  RemoteMemory* remote = nullptr;  ///< Where both are; null: the host's.
};

/// Spans stay valid until the layout changes. `inventory` is borrowed.
class Parameters {
 public:
  Parameters(const Inventory& inventory, Layout layout);
  /// @param arenas borrowed; an empty one is replaced by memory of the object's own, or by remote memory.
  Parameters(const Inventory& inventory, Layout layout, const Arenas& arenas);

  const Inventory& inventory() const { return inventory_; }
  /// In remote memory, if that is where the arenas are, as everything of this class but host_values.
  std::span<float> values(TensorId id) { return slice(arenas_.values, id); }
  std::span<float> gradient(TensorId id) { return slice(arenas_.gradients, id); }
  /// For the host to read; valid until the next call.
  std::span<const float> host_values(TensorId id);
  RemoteMemory* remote() const { return arenas_.remote; }
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
  std::vector<float> seen_;  ///< Of host_values, where values are remote.
  Arenas arenas_;
};

/// Tensors one after the other in creation order, without gaps.
Layout packed_layout(const Inventory& inventory);

}  // namespace steelyard
