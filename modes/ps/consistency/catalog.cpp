#include "src/base/catalog.hpp"
#include "modes/ps/consistency/consistency.hpp"

namespace steelyard::ps {

using MakeConsistency = std::unique_ptr<Consistency>(const ConsistencyOptions& options);

#define CONSISTENCY(name, help) MakeConsistency make_##name;
#include "modes/ps/consistency/consistencies.def"
#undef CONSISTENCY

namespace {
constexpr Choice<MakeConsistency> kRows[] = {
#define CONSISTENCY(name, help) {#name, help, make_##name},
#include "modes/ps/consistency/consistencies.def"
#undef CONSISTENCY
};
}  // namespace

Expected<std::unique_ptr<Consistency>> make_consistency(std::string_view name,
                                                        const ConsistencyOptions& options) {
  auto make = choose<MakeConsistency>("consistency", kRows, name);
  if (!make) return make.error();
  return make.value()(options);
}

std::string consistency_help() { return help<MakeConsistency>(kRows); }

}  // namespace steelyard::ps
