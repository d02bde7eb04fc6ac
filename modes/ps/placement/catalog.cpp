#include "src/base/catalog.hpp"
#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

#define PLACEMENT(name, help) Placement place_##name;
#include "modes/ps/placement/placements.def"
#undef PLACEMENT

namespace {
constexpr Choice<Placement> kRows[] = {
#define PLACEMENT(name, help) {#name, help, place_##name},
#include "modes/ps/placement/placements.def"
#undef PLACEMENT
};
constexpr std::string_view kNames[] = {
#define PLACEMENT(name, help) #name,
#include "modes/ps/placement/placements.def"
#undef PLACEMENT
};
}  // namespace

Expected<Placement*> find_placement(std::string_view name) {
  const std::string_view plain = name.starts_with("explicit:") ? name.substr(0, name.find(':')) : name;
  return choose<Placement>("placement", kRows, plain);
}

std::span<const std::string_view> placement_names() { return kNames; }

std::string placement_help() { return help<Placement>(kRows); }

}  // namespace steelyard::ps
