#include "src/collective/split.hpp"

#include "src/base/catalog.hpp"

namespace steelyard {

using MakeSplit = std::unique_ptr<SplitCollective>(const mpi::Communicator&, const CollectiveOptions&);
MakeSplit make_ring_split;
MakeSplit make_recursive_split;
MakeSplit make_mpi_split;

namespace {

constexpr Choice<MakeSplit> kRows[] = {
    {"mpi", "", make_mpi_split},
    {"ring", "", make_ring_split},
    {"recursive", "", make_recursive_split},
};
constexpr std::string_view kKind = "collective in two halves";

}  // namespace

Expected<std::unique_ptr<SplitCollective>> make_split_collective(std::string_view name,
                                                                 const mpi::Communicator& workers,
                                                                 const CollectiveOptions& options) {
  auto make = choose<MakeSplit>(kKind, kRows, name);
  if (!make) return make.error();
  return make.value()(workers, options);
}

Status check_split_collective(std::string_view name) {
  auto make = choose<MakeSplit>(kKind, kRows, name);
  if (!make) return make.error();
  return success();
}

}  // namespace steelyard
