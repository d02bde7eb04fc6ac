#include "src/collective/links.hpp"

#include <algorithm>
#include <vector>

#include "src/collective/pipelined.hpp"

namespace steelyard {

bool has_schedule(std::string_view backend) { return backend == "ring" || backend == "recursive"; }

std::string_view scheduled_backends() { return "ring or recursive"; }

bool are_linked(std::string_view backend, int ranks, Rank a, Rank b) {
  // Long enough to be cut into parts; a short buffer goes whole, to the same ranks.
  constexpr std::size_t kElements = 1024;
  std::vector<float> data(kElements * static_cast<std::size_t>(ranks));
  const auto sends = [&](Rank from, Rank to) {
    Schedule schedule(data.size());
    (backend == "ring" ? plan_ring : plan_recursive)(schedule, data, from, ranks);
    return std::ranges::find(schedule.sends(), to, &SendItem::to) != schedule.sends().end();
  };
  return sends(a, b) || sends(b, a);
}

}  // namespace steelyard
