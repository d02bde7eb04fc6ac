#include "kernels/gemm.hpp"

#include <algorithm>

#ifdef STEELYARD_ONEDNN
#include <dnnl.h>
#include <omp.h>
#else
#include <Eigen/Core>
#endif

namespace steelyard::kernels {
namespace {

#define STEELYARD_TEXT_(x) #x
#define STEELYARD_TEXT(x) STEELYARD_TEXT_(x)

#ifdef STEELYARD_ONEDNN
void product(const Gemm& s, const float* a, const float* b, float* c) {
  const auto m = static_cast<dnnl_dim_t>(s.m);
  const auto n = static_cast<dnnl_dim_t>(s.n);
  const auto k = static_cast<dnnl_dim_t>(s.k);
  dnnl_sgemm(static_cast<char>(s.a), static_cast<char>(s.b), m, n, k, 1.0F, a, s.a == Op::none ? k : m, b,
             s.b == Op::none ? n : k, s.accumulate ? 1.0F : 0.0F, c, n);
}
#else
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using In = Eigen::Map<const Matrix>;

template <typename A, typename B>
void store(const A& a, const B& b, Eigen::Map<Matrix> c, bool accumulate) {
  if (accumulate)
    c.noalias() += a * b;
  else
    c.noalias() = a * b;
}

void product(const Gemm& s, const float* a, const float* b, float* c) {
  const auto m = static_cast<Eigen::Index>(s.m);
  const auto n = static_cast<Eigen::Index>(s.n);
  const auto k = static_cast<Eigen::Index>(s.k);
  const Eigen::Map<Matrix> out(c, m, n);
  const bool ta = s.a == Op::transpose;
  const bool tb = s.b == Op::transpose;
  if (ta && tb) store(In(a, k, m).transpose(), In(b, n, k).transpose(), out, s.accumulate);
  if (ta && !tb) store(In(a, k, m).transpose(), In(b, k, n), out, s.accumulate);
  if (!ta && tb) store(In(a, m, k), In(b, n, k).transpose(), out, s.accumulate);
  if (!ta && !tb) store(In(a, m, k), In(b, k, n), out, s.accumulate);
}
#endif

}  // namespace

void gemm(const Gemm& shape, const float* a, const float* b, float* c) {
  if (shape.m == 0 || shape.n == 0) return;
  if (shape.k != 0)
    product(shape, a, b, c);
  else if (!shape.accumulate)
    std::fill_n(c, shape.m * shape.n, 0.0F);
}

#ifdef STEELYARD_ONEDNN
std::string_view gemm_library() {
  return "oneDNN " STEELYARD_TEXT(DNNL_VERSION_MAJOR) "." STEELYARD_TEXT(
      DNNL_VERSION_MINOR) "." STEELYARD_TEXT(DNNL_VERSION_PATCH);
}
void use_one_thread() { omp_set_num_threads(1); }
#else
std::string_view gemm_library() {
  return "Eigen " STEELYARD_TEXT(EIGEN_WORLD_VERSION) "." STEELYARD_TEXT(
      EIGEN_MAJOR_VERSION) "." STEELYARD_TEXT(EIGEN_MINOR_VERSION);
}
void use_one_thread() {}
#endif

}  // namespace steelyard::kernels
