#include "src/cuda/device.hpp"

namespace steelyard::cuda {

std::string_view build_text() { return ""; }

Expected<Device> take_device(int) {
  return Error{
      "this program was built without CUDA; use --device cpu, or build it where nvcc and NCCL are found"};
}

}  // namespace steelyard::cuda
