#include <cublas_v2.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>

#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/handles.hpp"
#include "tests/support/fake_gpu/memory.hpp"
#include "tests/support/fake_gpu/refuse.hpp"
#include "tests/support/fake_gpu/stream.hpp"

namespace steelyard::fake_gpu {
namespace {

struct Context {
  cudaStream_t stream = nullptr;
};

Handles<Context, cublasHandle_t>& contexts() {
  static auto& all = *new Handles<Context, cublasHandle_t>("context of cuBLAS");
  return all;
}

/// A matrix by columns, transposed or not as it is looked at.
struct Matrix {
  const float* values;
  std::size_t leading;
  bool transposed;
  float at(std::size_t row, std::size_t column) const {
    return transposed ? values[row * leading + column] : values[column * leading + row];
  }
  /// Bytes up to the last element, where it looks like rows x columns; 0 where there is none.
  std::size_t bytes(std::size_t rows, std::size_t columns) const {
    if (rows == 0 || columns == 0) return 0;
    const std::size_t last = transposed ? (rows - 1) * leading + columns : (columns - 1) * leading + rows;
    return last * sizeof(float);
  }
};

/// c[m, n] = alpha a[m, k] b[k, n] + beta c
struct Product {
  std::size_t m, n, k;
  float alpha, beta;
  Matrix a, b;
  float* c;
  std::size_t leading_c;

  void compute() const {
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t row = 0; row < m; ++row) {
        float sum = 0.0F;
        for (std::size_t i = 0; i < k; ++i) sum += a.at(row, i) * b.at(i, column);
        float& target = c[column * leading_c + row];
        target = beta == 0.0F ? alpha * sum : alpha * sum + beta * target;  // What is there may be no number.
      }
  }
};

bool transposes(cublasOperation_t operation) {
  if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T)
    refuse("cublasSgemm with operation " + std::to_string(operation) + "; this library knows N and T");
  return operation == CUBLAS_OP_T;
}

cublasStatus_t queue(const Product& product, Stream& stream) {
  const auto check = [&](const float* values, std::size_t bytes) {
    if (bytes > 0) require_device("cublasSgemm", values, bytes, stream.device());
  };
  check(product.a.values, product.a.bytes(product.m, product.k));
  check(product.b.values, product.b.bytes(product.k, product.n));
  check(product.c, Matrix{product.c, product.leading_c, false}.bytes(product.m, product.n));
  if (try_device() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  stream.push([product] { product.compute(); });
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace steelyard::fake_gpu

namespace fake = steelyard::fake_gpu;

FAKE_GPU_API cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (fake::health() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = fake::contexts().add(std::make_shared<fake::Context>());
  return CUBLAS_STATUS_SUCCESS;
}

FAKE_GPU_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  fake::contexts().take("cublasDestroy", handle);
  return CUBLAS_STATUS_SUCCESS;
}

FAKE_GPU_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  fake::contexts().get("cublasSetStream", handle)->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

FAKE_GPU_API const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "the function completed successfully" : "the function failed";
}

FAKE_GPU_API cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t a_operation,
                                           cublasOperation_t b_operation, int m, int n, int k,
                                           const float* alpha, const float* a, int leading_a, const float* b,
                                           int leading_b, const float* beta, float* c, int leading_c) {
  const bool a_transposed = fake::transposes(a_operation);
  const bool b_transposed = fake::transposes(b_operation);
  const bool fits = m >= 0 && n >= 0 && k >= 0 && leading_a >= std::max(1, a_transposed ? k : m) &&
                    leading_b >= std::max(1, b_transposed ? n : k) && leading_c >= std::max(1, m);
  if (!fits) return CUBLAS_STATUS_INVALID_VALUE;
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const auto stream = fake::stream_of("cublasSgemm", fake::contexts().get("cublasSgemm", handle)->stream);
  return fake::queue(
      {size(m), size(n), size(k), *alpha, *beta, fake::Matrix{a, size(leading_a), a_transposed},
       fake::Matrix{b, size(leading_b), b_transposed}, c, size(leading_c)},
      *stream);
}
