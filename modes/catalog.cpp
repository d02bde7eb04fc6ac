#include "src/base/catalog.hpp"
#include "modes/mode.hpp"

namespace steelyard {

#define MODE(name, help) const Mode& name##_mode();
#include "modes/modes.def"
#undef MODE

namespace {

using GiveMode = const Mode&();
constexpr Choice<GiveMode> kRows[] = {
#define MODE(name, help) {#name, help, name##_mode},
#include "modes/modes.def"
#undef MODE
};

}  // namespace

Expected<const Mode*> find_mode(std::string_view name) {
  auto give = choose<GiveMode>("mode", kRows, name);
  if (!give) return give.error();
  return &give.value()();
}

std::string mode_help() { return help<GiveMode>(kRows); }

Status check_trial(const TrialConfig& config, const ModelSpec& model, int ranks) {
  const auto mode = find_mode(config.mode);
  if (!mode) return mode.error();
  const auto optimizer = make_optimizer(config.optimizer, config.optimizer_options);
  if (!optimizer) return optimizer.error();
  return mode.value()->check(config, model, ranks);
}

int Roles::index_in(const std::vector<Rank>& list, Rank rank) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] == rank) return static_cast<int>(i);
  return kNone;
}

}  // namespace steelyard
