#pragma once

/// @file
/// Matrix product, row-major, single precision; by oneDNN where found at build time, else Eigen.

#include <cstddef>
#include <string_view>

namespace steelyard::kernels {

enum class Op : char { none = 'N', transpose = 'T' };

/// C[m, n] = op(A) op(B), or C += with `accumulate`. op(A) is [m, k], op(B) is [k, n]; a transposed operand
/// is stored as [k, m] or [n, k]. k = 0 gives zero (or leaves C). C overlaps neither A nor B.
struct Gemm {
  Op a = Op::none;
  Op b = Op::none;
  std::size_t m = 0;
  std::size_t n = 0;
  std::size_t k = 0;
  bool accumulate = false;
};
void gemm(const Gemm& shape, const float* a, const float* b, float* c);

/// "oneDNN 2.6.3" or "Eigen 3.4.0".
std::string_view gemm_library();

/// Limits the libraries below to one thread for the calling process.
void use_one_thread();

}  // namespace steelyard::kernels
