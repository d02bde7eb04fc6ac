#include "src/cuda/blas.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "src/base/check.hpp"

namespace steelyard::cuda {
namespace {

#define STEELYARD_TEXT_(x) #x
#define STEELYARD_TEXT(x) STEELYARD_TEXT_(x)

/// Of the same major version as the header.
constexpr const char* kFile = "libcublas.so." STEELYARD_TEXT(CUBLAS_VER_MAJOR);

struct Library {
  Library() : handle(dlopen(kFile, RTLD_NOW | RTLD_LOCAL)) {
    require(handle != nullptr, "cuBLAS, which models with matrix products need on a GPU: " + error());
    find(create, "cublasCreate_v2");
    find(destroy, "cublasDestroy_v2");
    find(set_stream, "cublasSetStream_v2");
    find(sgemm, "cublasSgemm_v2");
    find(text, "cublasGetStatusString");
  }

  void check(cublasStatus_t status, const char* call, Where where = {}) const {
    if (status != CUBLAS_STATUS_SUCCESS)
      die("cuBLAS: " + std::string(text(status)) + " (" + call + ")", where);
  }

  void* handle;
  decltype(&cublasCreate_v2) create;
  decltype(&cublasDestroy_v2) destroy;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSgemm_v2) sgemm;
  decltype(&cublasGetStatusString) text;

 private:
  static std::string error() {
    const char* text = dlerror();
    return text == nullptr ? "no reason given" : text;
  }
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    require(function != nullptr, std::string("cuBLAS has no ") + name);
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

cublasOperation_t operation(kernels::Op op) {
  return op == kernels::Op::transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

Blas::Blas(const Stream& stream) {
  cublasHandle_t context = nullptr;
  library().check(library().create(&context), "cublasCreate");
  context_.reset(context);
  library().check(library().set_stream(context, stream.handle()), "cublasSetStream");
}

void Blas::Destroy::operator()(cublasContext* context) const {
  library().check(library().destroy(context), "cublasDestroy");
}

void Blas::gemm(const kernels::Gemm& s, const float* a, const float* b, float* c) const {
  if (s.m == 0 || s.n == 0) return;
  const auto m = static_cast<int>(s.m);
  const auto n = static_cast<int>(s.n);
  const auto k = static_cast<int>(s.k);
  const float one = 1.0F;
  const float before = s.accumulate ? 1.0F : 0.0F;
  // cuBLAS goes by columns: a matrix of ours is its own transpose there, and C^T = op(B)^T op(A)^T.
  const int columns_a = s.a == kernels::Op::none ? k : m;
  const int columns_b = s.b == kernels::Op::none ? n : k;
  library().check(library().sgemm(context_.get(), operation(s.b), operation(s.a), n, m, k, &one, b,
                                  std::max(columns_b, 1), a, std::max(columns_a, 1), &before, c, n),
                  "cublasSgemm");
}

}  // namespace steelyard::cuda
