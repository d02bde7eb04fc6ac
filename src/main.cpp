#include <cstdio>
#include <exception>
#include <new>
#include <optional>

#include "kernels/gemm.hpp"
#include "src/base/stop_signal.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/settings.hpp"

namespace {

using namespace steelyard;

bool with_mpi(const cli::Options& options) {
  return options.command == cli::Command::train || options.command == cli::Command::compare;
}

/// What can be known before MPI starts: the options, and whether their values make sense together.
std::optional<Error> check_before_mpi(const cli::Options& options) {
  if (!with_mpi(options)) return std::nullopt;
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
  catch_stop_signals();
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

/// Without MPI: under a launcher one rank does it, and the others have nothing to say.
int run_alone(const cli::Options& options) {
  if (cli::launcher_rank() != 0) return cli::kDone;
  try {
    if (options.command == cli::Command::export_run) return cli::export_run(options);
    if (options.command == cli::Command::collect) return cli::collect(options);
    return options.command == cli::Command::inspect ? cli::inspect(options) : cli::place(options);
  } catch (const std::bad_alloc&) {
    cli::print_error(Error{"this machine has too little memory for what was asked"});
    return cli::kFailed;
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
  return with_mpi(options) ? run(options, argc, argv, variables) : run_alone(options);
}
