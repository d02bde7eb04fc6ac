#include "modes/allreduce/slices.hpp"

#include <algorithm>

namespace steelyard::allreduce {

void Slices::add(Slice slice) {
  begins_.push_back(slices_.empty() ? 0 : begins_.back() + slices_.back().elements);
  slices_.push_back(slice);
}

void Slices::allocate() {
  const std::size_t elements = slices_.empty() ? 0 : begins_.back() + slices_.back().elements;
  state_ = AlignedArray<float>(elements * per_element_);
}

template <typename Visit>
void Slices::visit(std::size_t begin, std::size_t elements, Visit&& visit) {
  for (std::size_t bucket = 0; bucket < slices_.size(); ++bucket) {
    const Slice& slice = slices_[bucket];
    const std::size_t end = std::min(begin + elements, slice.begin + slice.elements);
    for (std::size_t element = std::max(begin, slice.begin); element < end; ++element) {
      const std::size_t in_slice = element - slice.begin;
      const std::size_t block = in_slice / block_ * block_;
      const std::size_t in_block = std::min(block_, slice.elements - block);
      for (std::size_t which = 0; which < per_element_; ++which)
        visit(state(bucket)[block * per_element_ + which * in_block + in_slice - block],
              (element - begin) * per_element_ + which);
    }
  }
}

void Slices::read(std::size_t begin, std::span<float> out) {
  if (per_element_ == 0) return;
  visit(begin, out.size() / per_element_, [out](const float& kept, std::size_t place) { out[place] = kept; });
}

void Slices::write(std::size_t begin, std::span<const float> in) {
  if (per_element_ == 0) return;
  visit(begin, in.size() / per_element_, [in](float& kept, std::size_t place) { kept = in[place]; });
}

void move_state(const mpi::Communicator& workers, const Inventory& inventory, bool divided,
                std::pair<Slices&, const Layout&> from, std::pair<Slices&, const Layout&> to) {
  const std::size_t per_element = from.first.per_element();
  if (per_element == 0) return;
  for (TensorId id = 0; id < inventory.size(); ++id) {
    AlignedArray<float> state(inventory[id].elements() * per_element);
    from.first.read(from.second.begin[id], state.span());
    // Of each word all ranks but one have zeros.
    if (divided) mpi::merge_bits(workers, std::as_writable_bytes(state.span()));
    to.first.write(to.second.begin[id], state.span());
  }
}

}  // namespace steelyard::allreduce
