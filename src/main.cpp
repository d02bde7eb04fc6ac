#include <cstdio>
#include <exception>
#include <optional>

#include "kernels/gemm.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/settings.hpp"

namespace {

using namespace steelyard;

/// What can be known before MPI starts: the options, and whether their values make sense together.
std::optional<Error> check_before_mpi(const cli::Options& options) {
  if (options.command == cli::Command::inspect) return std::nullopt;
  const auto settings = cli::run_settings(options);
  if (!settings) return settings.error();
  const auto request = cli::trial_request(options);
  return request ? std::nullopt : std::optional(request.error());
}

/// Under a launcher the first rank to exit makes it end the others, so all meet before anybody leaves.
int refuse(const Error& error, int argc, char** argv) {
  if (!cli::under_launcher()) {
    cli::print_error(error);
    return cli::kUsage;
  }
  const mpi::Environment environment(argc, argv);
  const auto world = mpi::Communicator::duplicate_world();
  if (world.rank() == 0) cli::print_error(error);
  mpi::barrier(world, mpi::Wait::sleep);
  return cli::kUsage;
}

int run(const cli::Options& options, int argc, char** argv, char** variables) {
  kernels::use_one_thread();
  const mpi::Environment environment(argc, argv);
  const cli::Invocation invocation{argc, argv, variables};
  try {
    return options.command == cli::Command::train ? cli::train(options, invocation)
                                                  : cli::compare(options, invocation);
  } catch (
      const std::exception& error) {  // Out of memory, mostly: nobody can go on, and nobody may wait for us.
    die(error.what());
  }
}

}  // namespace

int main(int argc, char** argv, char** variables) {
  const auto parsed = cli::parse_command_line(argc, argv, variables);
  if (!parsed) return refuse(parsed.error(), argc, argv);
  if (!parsed.value().print.empty()) {
    if (cli::launcher_rank() == 0) std::fputs(parsed.value().print.c_str(), stdout);
    return cli::kDone;
  }
  const cli::Options& options = parsed.value().options;
  if (const auto error = check_before_mpi(options)) return refuse(*error, argc, argv);
  if (options.command != cli::Command::inspect) return run(options, argc, argv, variables);
  return cli::launcher_rank() == 0 ? cli::inspect(options) : cli::kDone;
}
