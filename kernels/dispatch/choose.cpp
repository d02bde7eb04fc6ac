// The public kernels where a build has several instruction sets: a call through the table of the one in use.
#include <cpuid.h>

#include <array>

#include "kernels/dispatch/table.hpp"
#include "kernels/instructions.hpp"

namespace steelyard::kernels {
namespace {

/// Not among the names that every compiler's __builtin_cpu_supports knows.
bool has_f16c_movbe_lzcnt() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_F16C) == 0 || (c & bit_MOVBE) == 0) return false;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & bit_LZCNT) != 0;
}

/// All of x86-64-v3; the builtin also asks whether the operating system keeps the registers.
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && has_f16c_movbe_lzcnt();
}

bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

constexpr std::size_t kMostSets = 8;

/// The sets that run here, and the one in use.
struct Choice {
  std::array<std::string_view, kMostSets> names{};
  std::array<const KernelTable*, kMostSets> tables{};
  std::size_t count = 0;
  std::size_t used = 0;

  void offer(std::string_view name, const KernelTable& table, bool runs_here) {
    if (!runs_here) return;
    names[count] = name;
    tables[count] = &table;
    used = count++;
  }
};

Choice look_around() {
  __builtin_cpu_init();
  Choice choice;
#define INSTRUCTION_SET(symbol, name, runs_here) choice.offer(name, steelyard_kernels_##symbol, runs_here);
#include "kernels/dispatch/instruction_sets.def"
#undef INSTRUCTION_SET
  return choice;
}

Choice& choice() {
  static Choice found = look_around();
  return found;
}

const KernelTable& table() { return *choice().tables[choice().used]; }

}  // namespace

std::span<const std::string_view> instruction_sets() { return {choice().names.data(), choice().count}; }
std::string_view instruction_set() { return choice().names[choice().used]; }
void use_instruction_set(std::size_t index) {
  if (index < choice().count) choice().used = index;
}

#define KERNEL(result, name, parameters, arguments) \
  result name parameters { return table().STEELYARD_MEMBER(name) arguments; }
#include "kernels/dispatch/kernels.def"
#undef KERNEL

}  // namespace steelyard::kernels
