#include "src/base/catalog.hpp"
#include "modes/ps/staleness/staleness.hpp"

namespace steelyard::ps {

using MakeStaleness = std::unique_ptr<StalenessPolicy>(const StalenessOptions& options);

#define STALENESS(name, help) MakeStaleness make_##name;
#include "modes/ps/staleness/stalenesses.def"
#undef STALENESS

namespace {
constexpr Choice<MakeStaleness> kRows[] = {
#define STALENESS(name, help) {#name, help, make_##name},
#include "modes/ps/staleness/stalenesses.def"
#undef STALENESS
};
}  // namespace

Expected<std::unique_ptr<StalenessPolicy>> make_staleness(std::string_view name,
                                                          const StalenessOptions& options) {
  auto make = choose<MakeStaleness>("staleness policy", kRows, name);
  if (!make) return make.error();
  return make.value()(options);
}

std::string staleness_help() { return help<MakeStaleness>(kRows); }

}  // namespace steelyard::ps
