#include "modes/ps/remembered.hpp"

#include <algorithm>
#include <deque>

namespace steelyard::ps {
namespace {

struct Answer {
  std::string name;
  PlacementOptions options;
  Inventory inventory;
  Expected<Placed> placed;
};

bool same(const Inventory& a, const Inventory& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) {
    return x.shape == y.shape && x.bytes() == y.bytes() && x.name == y.name;
  });
}

}  // namespace

Expected<Placed> remembered_place(std::string_view name, const Inventory& inventory,
                                  const PlacementOptions& options) {
  constexpr std::size_t kMost = 16;
  static std::deque<Answer> answers;  // The latest first. A rank has one thread.
  const auto known = std::ranges::find_if(answers, [&](const Answer& one) {
    return one.name == name && one.options == options && same(one.inventory, inventory);
  });
  if (known != answers.end()) return known->placed;
  answers.push_front({std::string(name), options, inventory, place(name, inventory, options)});
  if (answers.size() > kMost) answers.pop_back();
  return answers.front().placed;
}

}  // namespace steelyard::ps
