#include <cublas_v2.h>

#include <limits>

#include "tests/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

class FakeBlas : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_EQ(cublasCreate(&context_), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSetStream(context_, stream_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(cublasDestroy(context_), CUBLAS_STATUS_SUCCESS); }

  cudaStream_t stream_ = new_stream();
  cublasHandle_t context_ = nullptr;
};

/// By columns: a = (1 3 5; 2 4 6), b = (1 0; 0 1; 2 2), a b = (11 13; 14 16).
TEST_F(FakeBlas, MultipliesByColumnsAndTransposes) {
  const float* a = on_device(std::vector{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F});
  const float* a_transposed = on_device(std::vector{1.0F, 3.0F, 5.0F, 2.0F, 4.0F, 6.0F});
  const float* b = on_device(std::vector{1.0F, 0.0F, 2.0F, 0.0F, 1.0F, 2.0F});
  const float* b_transposed = on_device(std::vector{1.0F, 0.0F, 0.0F, 1.0F, 2.0F, 2.0F});
  const float one = 1.0F;
  const float none = 0.0F;
  for (const bool a_is : {false, true})
    for (const bool b_is : {false, true}) {
      float* c = on_device(std::vector(4, kNoNumber));
      EXPECT_EQ(cublasSgemm(context_, a_is ? CUBLAS_OP_T : CUBLAS_OP_N, b_is ? CUBLAS_OP_T : CUBLAS_OP_N, 2,
                            2, 3, &one, a_is ? a_transposed : a, a_is ? 3 : 2, b_is ? b_transposed : b,
                            b_is ? 2 : 3, &none, c, 2),
                CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(on_host(c, 4), (std::vector{11.0F, 14.0F, 13.0F, 16.0F}));
    }
}

TEST_F(FakeBlas, AddsToWhatIsThereInTheOrderOfItsStream) {
  const float* three = on_device(std::vector{3.0F});
  float* c = on_device(std::vector{5.0F});
  float* early = nullptr;
  EXPECT_CUDA(cudaMallocHost(reinterpret_cast<void**>(&early), sizeof(float)));
  const float two = 2.0F;
  const float ten = 10.0F;
  Gate gate(stream_);
  EXPECT_EQ(cublasSgemm(context_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &two, three, 1, three, 1, &ten, c, 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_CUDA(cudaMemcpy(early, c, sizeof(float), cudaMemcpyDeviceToHost));
  EXPECT_EQ(*early, 5.0F);
  gate.open();
  EXPECT_EQ(on_host(c, 1).front(), 2.0F * 9.0F + 10.0F * 5.0F);
}

TEST_F(FakeBlas, ChecksWhatItIsGiven) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  float* values = on_device(std::vector(4, 1.0F));
  const float one = 1.0F;
  const auto multiply = [&](int m, int leading) {
    return cublasSgemm(context_, CUBLAS_OP_N, CUBLAS_OP_N, m, 1, 2, &one, values, leading, values, 2, &one,
                       values, leading);
  };
  EXPECT_EQ(multiply(2, 1), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EXIT(multiply(4, 4), testing::ExitedWithCode(kRefused), "cublasSgemm: 32 bytes at .* go beyond");
}

}  // namespace
}  // namespace steelyard::fake_gpu
