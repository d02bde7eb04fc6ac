#include <cstring>

#include "src/trace/trial_data.hpp"

namespace steelyard::trace {
namespace {

template <typename Row>
std::vector<std::vector<Row>> gather_rows(const mpi::Communicator& world, const std::vector<Row>& mine) {
  std::vector<std::size_t> sizes;
  const auto all = mpi::gather(world, std::as_bytes(std::span(mine)), 0, sizes);
  std::vector<std::vector<Row>> rows;
  if (world.rank() != 0) return rows;
  const std::byte* next = all.data();
  for (const std::size_t size : sizes) {
    rows.emplace_back(size / sizeof(Row));
    if (size > 0) std::memcpy(static_cast<void*>(rows.back().data()), next, size);
    next += size;
  }
  return rows;
}

}  // namespace

std::vector<RankTrial> gather_trial(const mpi::Communicator& world, const Recorder& recorder) {
  auto steps = gather_rows(world, recorder.steps());
  auto loads = gather_rows(world, recorder.loads());
  auto stalenesses = gather_rows(world, recorder.stalenesses());
  auto drops = gather_rows(world, recorder.drop_counts());
  auto reads = gather_rows(world, recorder.read_sums());
  std::vector<RankTrial> ranks(steps.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].steps = std::move(steps[i]);
    ranks[i].loads = std::move(loads[i]);
    ranks[i].stalenesses = std::move(stalenesses[i]);
    ranks[i].drops = std::move(drops[i]);
    ranks[i].reads = std::move(reads[i]);
  }
  return ranks;
}

}  // namespace steelyard::trace
