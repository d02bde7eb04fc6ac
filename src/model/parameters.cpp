#include "src/model/parameters.hpp"

#include <utility>

#include "src/base/check.hpp"
#include "src/base/hash.hpp"
#include "src/base/random.hpp"

namespace steelyard {

void initial_values(const Inventory& inventory, TensorId tensor, std::uint64_t seed, std::size_t begin,
                    std::span<float> values) {
  const float bound = inventory[tensor].bound;
  // Adding zero makes the zeros of a bound of 0 positive, all of them.
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = bound * random_unit(seed, tensor, begin + i) + 0.0F;
}

Parameters::Parameters(const Inventory& inventory, Layout layout)
    : Parameters(inventory, std::move(layout), {}) {}

Parameters::Parameters(const Inventory& inventory, Layout layout, const Arenas& arenas)
    : inventory_(inventory), layout_(std::move(layout)), arenas_(arenas) {
  const auto own = [this](std::span<float>& arena, AlignedArray<float>& memory) {
    if (!arena.empty()) return;
    if (arenas_.remote == nullptr) memory = AlignedArray<float>(layout_.elements);
    arena = arenas_.remote == nullptr ? memory.span() : arenas_.remote->allocate(layout_.elements);
  };
  own(arenas_.values, values_);
  own(arenas_.gradients, gradients_);
}

std::span<const float> Parameters::host_values(TensorId id) {
  if (arenas_.remote == nullptr) return values(id);
  seen_.resize(inventory_[id].elements());
  arenas_.remote->read(values(id), seen_);
  return seen_;
}

void Parameters::set_layout(Layout layout) {
  require(layout.elements == layout_.elements, "another layout has as many elements");
  layout_ = std::move(layout);
}

void Parameters::initialise(std::uint64_t seed) {
  for (TensorId id = 0; id < inventory_.size(); ++id) {
    if (arenas_.remote != nullptr) seen_.resize(inventory_[id].elements());
    initial_values(inventory_, id, seed, 0, arenas_.remote == nullptr ? values(id) : std::span(seen_));
    if (arenas_.remote != nullptr) arenas_.remote->write(seen_, values(id));
  }
}

std::uint64_t Parameters::hash() {
  Fnv1a hash;
  for (TensorId id = 0; id < inventory_.size(); ++id) hash.add(std::as_bytes(host_values(id)));
  return hash.value();
}

Layout packed_layout(const Inventory& inventory) {
  Layout layout;
  for (const Tensor& tensor : inventory) {
    layout.begin.push_back(layout.elements);
    layout.elements += tensor.elements();
  }
  return layout;
}

}  // namespace steelyard
