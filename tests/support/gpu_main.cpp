// GoogleTest on the first GPU, with MPI for one rank. Without a GPU the exit code is 77, by which CTest knows
// a test that was skipped.
#include <gtest/gtest.h>

#include <cstdio>

#include "kernels/gemm.hpp"
#include "src/cuda/device.hpp"
#include "src/mpi/communicator.hpp"

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  testing::InitGoogleTest(&argc, argv);
  const auto device = steelyard::cuda::take_device(0);
  if (!device) {
    std::printf("skipped: %s\n", device.error().message.c_str());
    return kSkipped;
  }
  std::printf("on %s\n", device.value().name.c_str());
  steelyard::kernels::use_one_thread();
  const steelyard::mpi::Environment environment(argc, argv);
  return RUN_ALL_TESTS();
}
