#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/kernel.hpp"
#include "tests/support/fake_gpu/memory.hpp"
#include "tests/support/fake_gpu/refuse.hpp"
#include "tests/support/fake_gpu/stream.hpp"

namespace steelyard::fake_gpu {
namespace {

struct Configuration {
  Grid grid;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

/// Never destroyed: threads of streams outlive the end of main.
struct Kernels {
  std::mutex mutex;
  std::map<std::string, Prepare> stand_ins;
  std::map<const void*, std::string> names;  ///< By the compiler's launching function.
};

Kernels& kernels() {
  static auto& all = *new Kernels;
  return all;
}

thread_local std::vector<Configuration> configurations;

std::string demangled(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : mangled;
}

Prepare stand_in_of(const void* function) {
  const std::lock_guard lock(kernels().mutex);
  const auto name = kernels().names.find(function);
  if (name == kernels().names.end())
    refuse(text_of(function) + " is launched, which is no registered kernel");
  const auto found = kernels().stand_ins.find(name->second);
  if (found == kernels().stand_ins.end())
    refuse("kernel " + name->second + " is launched, for which there is no stand-in");
  return found->second;
}

bool is_valid(const Grid& grid) {
  const auto volume = [](const dim3& sizes) { return std::uint64_t{sizes.x} * sizes.y * sizes.z; };
  return volume(grid.blocks) > 0 && volume(grid.threads) > 0 && volume(grid.threads) <= 1024;
}

cudaError_t launch(const void* function, void** arguments, const Configuration& configuration) {
  if (configuration.shared_bytes != 0) refuse("a kernel with dynamic shared memory has no stand-in");
  if (!is_valid(configuration.grid)) return fail(cudaErrorInvalidConfiguration);
  const auto stream = stream_of("a kernel's launch", configuration.stream);
  if (stream->device() != current_device()) return fail(cudaErrorInvalidResourceHandle);
  if (const cudaError_t code = try_device(); code != cudaSuccess) return code;
  stream->push(stand_in_of(function)(configuration.grid, arguments));
  return cudaSuccess;
}

/// Addresses of this machine's heap, stacks and libraries lie above; sizes and counts do not.
constexpr std::uintptr_t kLeastAddress = std::uintptr_t{1} << 40U;

bool is_mapped(std::uintptr_t address) {
  constexpr std::uintptr_t kPage = 4096;
  unsigned char resident = 0;
  return address % 8 == 0 && address >= kLeastAddress &&
         mincore(reinterpret_cast<void*>(address / kPage * kPage), 1, &resident) == 0;
}

}  // namespace

bool add_kernel(const char* mangled, Prepare prepare) {
  // "steelyard::fake_gpu::Named<name of the kernel>"
  const std::string type = demangled(mangled);
  const std::size_t begin = type.find('<') + 1;
  const std::string name = type.substr(begin, type.size() - begin - 1);
  const std::lock_guard lock(kernels().mutex);
  if (!kernels().stand_ins.emplace(name, prepare).second)
    refuse("two kernels are named " + name + ", which their launches cannot tell apart");
  return true;
}

void check_argument(std::span<const std::uintptr_t> words) {
  for (const std::uintptr_t word : words) {
    if (!is_mapped(word)) continue;
    const auto* address = reinterpret_cast<const void*>(word);
    const auto allocation = allocation_of("a kernel's argument", address);
    if (!allocation || allocation->place == Place::device)
      require_device("a kernel's argument", address, 0, current_device());
  }
}

}  // namespace steelyard::fake_gpu

namespace fake = steelyard::fake_gpu;

FAKE_GPU_API void** __cudaRegisterFatBinary(void* binary);
FAKE_GPU_API void __cudaRegisterFatBinaryEnd(void** handle);
FAKE_GPU_API void __cudaUnregisterFatBinary(void** handle);
FAKE_GPU_API char __cudaInitModule(void** handle);
FAKE_GPU_API void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int,
                                         uint3*, uint3*, dim3*, dim3*, int*);
FAKE_GPU_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function);
FAKE_GPU_API unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, std::size_t shared_bytes,
                                                  CUstream_st* stream);
FAKE_GPU_API cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads, std::size_t* shared_bytes,
                                                    void* stream);
FAKE_GPU_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                                            std::size_t shared_bytes, cudaStream_t stream);

/// The binary is nothing to the host: any handle does.
void** __cudaRegisterFatBinary(void* binary) { return static_cast<void**>(binary); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  const std::lock_guard lock(fake::kernels().mutex);
  fake::kernels().names[function] = fake::demangled(name);
}

/// A kernel's handle is the compiler's launching function itself.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 blocks, dim3 threads, std::size_t shared_bytes,
                                     CUstream_st* stream) {
  fake::configurations.push_back({{blocks, threads}, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* blocks, dim3* threads, std::size_t* shared_bytes, void* stream) {
  const fake::Configuration last = fake::configurations.back();
  fake::configurations.pop_back();
  *blocks = last.grid.blocks;
  *threads = last.grid.threads;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 blocks, dim3 threads, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  return fake::launch(kernel, arguments, {{blocks, threads}, shared_bytes, stream});
}

FAKE_GPU_API cudaError_t cudaLaunchKernel(const void* function, dim3 blocks, dim3 threads, void** arguments,
                                          std::size_t shared_bytes, cudaStream_t stream) {
  return fake::launch(function, arguments, {{blocks, threads}, shared_bytes, stream});
}
