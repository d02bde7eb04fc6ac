#pragma once

/// @file
/// Runs a test with the kernels of every instruction set that this build and this processor have.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "kernels/instructions.hpp"

namespace steelyard::test {

template <typename Check>
void with_every_instruction_set(Check&& check) {
  const auto sets = kernels::instruction_sets();
  for (std::size_t index = 0; index < sets.size(); ++index) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, "instructions " + std::string(sets[index]));
    kernels::use_instruction_set(index);
    ASSERT_EQ(kernels::instruction_set(), sets[index]);
    check();
  }
}

}  // namespace steelyard::test
