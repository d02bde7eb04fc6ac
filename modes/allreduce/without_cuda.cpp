#include "modes/allreduce/device.hpp"
#include "src/base/check.hpp"

namespace steelyard::allreduce {

void run_on_device(Session&, BucketPlan, const Optimizer&, Share) {
  die("training on a GPU in a program built without CUDA");  // It has refused --device cuda.
}

}  // namespace steelyard::allreduce
