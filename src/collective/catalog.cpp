#include "src/base/catalog.hpp"
#include "src/collective/collective.hpp"

namespace steelyard {

using MakeCollective = std::unique_ptr<Collective>(const mpi::Communicator&, const CollectiveOptions&);

#define COLLECTIVE(name, help) MakeCollective make_##name##_collective;
#include "src/collective/collectives.def"
#undef COLLECTIVE

namespace {
constexpr Choice<MakeCollective> kRows[] = {
#define COLLECTIVE(name, help) {#name, help, make_##name##_collective},
#include "src/collective/collectives.def"
#undef COLLECTIVE
};
}  // namespace

Expected<std::unique_ptr<Collective>> make_collective(std::string_view name, const mpi::Communicator& workers,
                                                      const CollectiveOptions& options) {
  auto make = choose<MakeCollective>("collective", kRows, name);
  if (!make) return make.error();
  return make.value()(workers, options);
}

Status check_collective(std::string_view name) {
  auto make = choose<MakeCollective>("collective", kRows, name);
  if (!make) return make.error();
  return success();
}

std::string collective_help() { return help<MakeCollective>(kRows); }

std::size_t allreduce_bytes_sent(std::size_t bytes, int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return 2 * bytes * (n - 1) / n;
}

}  // namespace steelyard
