#pragma once

/// @file
/// Kernels as functions of the host. translate.py makes of each launch `kernel<<<...>>>(arguments)` in a CUDA
/// source a FAKE_GPU_LAUNCH(kernel)(arguments), and this header comes before it: so the sources say which
/// kernels there are, and their own bodies stand in for them.

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

inline thread_local uint3 threadIdx, blockIdx;
inline thread_local dim3 blockDim, gridDim;

namespace steelyard::fake_gpu {

struct Grid {
  dim3 blocks;
  dim3 threads;
};

/// Runs `thread` as every thread of the grid, block after block, all in the calling thread.
void run(const Grid& grid, const std::function<void()>& thread);

/// Copies the arguments, and gives back what runs the kernel with them.
using Prepare = std::function<void()> (*)(const Grid& grid, void** arguments);

/// @param mangled name of the type Named<kernel>.
/// @return true
bool add_kernel(const char* mangled, Prepare prepare);

/// Refuses a word that is the address of memory on which a kernel of the current device cannot work: of the
/// host, of another device, or given back.
void check_argument(std::span<const std::uintptr_t> words);

/// The argument with zeros where it holds nothing, so that no old address is left there; where the compiler
/// cannot do that, zeros for all that is not a pointer itself.
template <typename T>
auto words_of(T argument) {
  constexpr std::size_t kWord = sizeof(std::uintptr_t);
  std::array<std::uintptr_t, (sizeof(T) + kWord - 1) / kWord> words{};
#if __has_builtin(__builtin_clear_padding)
  __builtin_clear_padding(&argument);
  std::memcpy(words.data(), &argument, sizeof argument);
#else
  if constexpr (std::is_pointer_v<T>) std::memcpy(words.data(), &argument, sizeof argument);
#endif
  return words;
}

/// Of the address of a kernel, a name would lack the parameters.
template <auto& kernel>
struct Named {};

template <auto kernel>
struct StandIn;
template <typename... Arguments, void (*kernel)(Arguments...)>
struct StandIn<kernel> {
  static std::function<void()> prepare(const Grid& grid, void** arguments) {
    return prepare(grid, arguments, std::index_sequence_for<Arguments...>());
  }
  template <std::size_t... i>
  static std::function<void()> prepare(const Grid& grid, void** arguments, std::index_sequence<i...>) {
    const std::tuple<Arguments...> copied{*static_cast<Arguments*>(arguments[i])...};
    (check_argument(words_of(std::get<i>(copied))), ...);
    return [grid, copied] { run(grid, [&] { std::apply(kernel, copied); }); };
  }
  static inline const bool known = add_kernel(typeid(Named<*kernel>).name(), &prepare);
};

inline std::uint64_t time_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds(1));
}

}  // namespace steelyard::fake_gpu

/// Makes the kernel known; never called. Arguments have the very types of the kernel's parameters.
#define FAKE_GPU_LAUNCH(...)                                                           \
  [&](auto... argument) {                                                              \
    constexpr auto kernel = static_cast<void (*)(decltype(argument)...)>(__VA_ARGS__); \
    static_cast<void>(::steelyard::fake_gpu::StandIn<kernel>::known);                  \
  }

#define __launch_bounds__(...)
#undef __shared__
#define __shared__ static thread_local  // A block has one thread of the host.

void __syncthreads();
inline void __nanosleep(unsigned ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
template <typename T>
T atomicAdd(T* address, T value) {
  return std::atomic_ref(*address).fetch_add(value);
}
template <typename T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  std::atomic_ref place(*address);
  T before = place;
  while (value < before && !place.compare_exchange_weak(before, value)) continue;
  return before;
}
