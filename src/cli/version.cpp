#include <fmt/format.h>

#include "build_info.hpp"
#include "kernels/gemm.hpp"
#include "kernels/instructions.hpp"
#include "src/cli/options.hpp"
#include "src/collective/nccl.hpp"
#include "src/cuda/device.hpp"
#include "src/mpi/communicator.hpp"
#include "src/trace/library.hpp"

namespace steelyard::cli {
namespace {

std::string devices_text() {
  const std::string_view cuda = cuda::build_text();
  return cuda.empty() ? "cpu (built without CUDA)" : fmt::format("cpu; cuda by {}, {}", cuda, nccl_text());
}

}  // namespace

std::string version_text() {
  // MPI_Get_library_version may be called before MPI_Init.
  return fmt::format(
      "steelyard {} ({})\n"
      "build: {}, {}, {}\n"
      "libraries: {}; {}; matrix products by {}\n"
      "devices: {}\n"
      "instructions: {} of {}\n",
      kVersion, kRevision, kBuildType, kCompiler, kFlags, mpi::library_version(), trace::library_version(),
      kernels::gemm_library(), devices_text(), kernels::instruction_set(),
      fmt::join(kernels::instruction_sets(), ", "));
}

}  // namespace steelyard::cli
