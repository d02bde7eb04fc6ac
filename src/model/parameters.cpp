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
    : inventory_(inventory),
      layout_(std::move(layout)),
      values_(arenas.values.empty() ? layout_.elements : 0),
      gradients_(arenas.gradients.empty() ? layout_.elements : 0),
      arenas_{arenas.values.empty() ? values_.span() : arenas.values,
              arenas.gradients.empty() ? gradients_.span() : arenas.gradients} {}

void Parameters::set_layout(Layout layout) {
  require(layout.elements == layout_.elements, "another layout has as many elements");
  layout_ = std::move(layout);
}

void Parameters::initialise(std::uint64_t seed) {
  for (TensorId id = 0; id < inventory_.size(); ++id) initial_values(inventory_, id, seed, 0, values(id));
}

std::uint64_t Parameters::hash() {
  Fnv1a hash;
  for (TensorId id = 0; id < inventory_.size(); ++id) hash.add(std::as_bytes(values(id)));
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
