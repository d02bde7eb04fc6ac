#include "src/collective/schedule.hpp"

#include <algorithm>

namespace steelyard {
namespace {

/// One more than the number of the last item that shares a place with `data`; 0 where none does.
template <typename Item>
std::size_t behind_last_overlap(const std::vector<Item>& items, std::span<const float> data) {
  const auto overlaps = [data](const Item& item) {
    return item.data.data() < data.data() + data.size() && data.data() < item.data.data() + item.data.size();
  };
  const auto found = std::find_if(items.rbegin(), items.rend(), overlaps);
  return static_cast<std::size_t>(items.rend() - found);
}

}  // namespace

template <typename Add>
void Schedule::cut(std::span<float> data, Add&& add) {
  const std::size_t segments = (data.size() + segment_ - 1) / segment_;
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t begin = data.size() * i / segments;
    const auto one = data.subspan(begin, data.size() * (i + 1) / segments - begin);
    largest_ = std::max(largest_, one.size());
    add(one);
  }
}

void Schedule::send(Rank to, std::span<float> data, bool result) {
  cut(data, [&](std::span<float> one) {
    sends_.push_back({to, one, behind_last_overlap(receives_, one), result});
  });
}

void Schedule::receive(Rank from, std::span<float> data, bool add) {
  cut(data, [&](std::span<float> one) {
    receives_.push_back({from, one, behind_last_overlap(sends_, one), add});
  });
}

std::span<float> nth_part(std::span<float> whole, int index, int parts) {
  const auto count = static_cast<std::size_t>(parts);
  const auto i = static_cast<std::size_t>(index + parts) % count;
  const std::size_t begin = whole.size() * i / count;
  return whole.subspan(begin, whole.size() * (i + 1) / count - begin);
}

}  // namespace steelyard
