#pragma once

#include <memory>

#include "kernels/gemm.hpp"
#include "src/cuda/stream.hpp"

struct cublasContext;

namespace steelyard::cuda {

/// Matrix products by cuBLAS, in single precision without TF32. The library is loaded for the first object:
/// it takes 0.2 s, which commands without products are to be spared.
class Blas {
 public:
  /// @param stream must outlive it.
  explicit Blas(const Stream& stream);

  /// Queues the product; a, b, c as kernels::gemm takes them, in the device's memory.
  void gemm(const kernels::Gemm& shape, const float* a, const float* b, float* c) const;

 private:
  struct Destroy {
    void operator()(cublasContext* context) const;
  };
  std::unique_ptr<cublasContext, Destroy> context_;
};

}  // namespace steelyard::cuda
