#include <fmt/format.h>

#include "build_info.hpp"
#include "kernels/gemm.hpp"
#include "kernels/instructions.hpp"
#include "src/cli/options.hpp"
#include "src/mpi/communicator.hpp"
#include "src/trace/library.hpp"

namespace steelyard::cli {

std::string version_text() {
  // MPI_Get_library_version may be called before MPI_Init.
  return fmt::format(
      "steelyard {} ({})\n"
      "build: {}, {}, {}\n"
      "libraries: {}; {}; matrix products by {}\n"
      "devices: cpu\n"
      "instructions: {} of {}\n",
      kVersion, kRevision, kBuildType, kCompiler, kFlags, mpi::library_version(), trace::library_version(),
      kernels::gemm_library(), kernels::instruction_set(), fmt::join(kernels::instruction_sets(), ", "));
}

}  // namespace steelyard::cli
