#include "src/cli/launch.hpp"

#include <cstdio>
#include <cstdlib>

#include "src/base/stop_signal.hpp"

namespace steelyard::cli {
namespace {

constexpr const char* kRankVariables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

const char* rank_variable() {
  for (const char* name : kRankVariables)
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return nullptr;
}

}  // namespace

Launch Launch::begin(const std::string& wait) {
  auto world = mpi::Communicator::duplicate_world();
  auto topology = mpi::Topology::discover(world);
  auto pushes = world.duplicate();
  auto replies = world.duplicate();
  const mpi::Wait policy = mpi::choose_wait(wait, topology).value();
  return {std::move(world), std::move(pushes), std::move(replies), std::move(topology), policy, {}, {}};
}

void print_error(const Error& error) {
  std::fprintf(stderr, "steelyard: %s\n", error.message.c_str());
  std::fflush(stderr);
}

bool any_error(const Launch& launch, const std::optional<Error>& mine) {
  const auto error = mpi::agree(launch.world, mine);
  if (error && launch.speaks()) print_error(*error);
  return error.has_value();
}

bool any_told_to_stop(const Launch& launch) {
  return mpi::greatest(launch.world, stop_signalled() ? 1 : 0) != 0;
}

int launcher_rank() {
  const char* value = rank_variable();
  return value == nullptr ? 0 : std::atoi(value);
}

bool under_launcher() { return rank_variable() != nullptr; }

}  // namespace steelyard::cli
