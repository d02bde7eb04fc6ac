#include "tests/support/fake_gpu/refuse.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace steelyard::fake_gpu {

void refuse(const std::string& what) {
  const std::string line = "fake_gpu: " + what + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) std::_Exit(kRefused);
  std::_Exit(kRefused);
}

std::string text_of(const void* address) {
  std::ostringstream text;
  text << address;
  return text.str();
}

}  // namespace steelyard::fake_gpu

/// Its presence tells a program that no GPU computes.
FAKE_GPU_API const int steelyard_fake_gpu;
const int steelyard_fake_gpu = 1;

/// Called by refusals.c.
FAKE_GPU_API __attribute__((noreturn)) void steelyard_fake_gpu_refuses(const char* call);
void steelyard_fake_gpu_refuses(const char* call) {
  steelyard::fake_gpu::refuse(std::string(call) + " is called, which this library does not stand in for");
}
