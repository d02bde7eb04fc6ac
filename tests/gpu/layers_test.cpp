// Kernels of layers and losses beside their twins on the CPU, within what the order of their sums explains.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cuda/convolution.hpp"
#include "kernels/cuda/dense.hpp"
#include "kernels/cuda/loss.hpp"
#include "src/cuda/blas.hpp"
#include "tests/support/convolution_reference.hpp"
#include "tests/support/on_device.hpp"

namespace steelyard::test {
namespace {

using Floats = std::vector<float>;

void expect_near(const Floats& found, const Floats& wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], tolerance) << i;
}

Floats twice(const Floats& once) {
  Floats both = once;
  both.insert(both.end(), once.begin(), once.end());
  return both;
}

/// A batch of the same image twice, of which the second is looked at; sums over the batch are halved.
ConvolutionResults by_device(const ConvolutionReference& r) {
  const ConvolutionShape& s = r.s;
  const cuda::Stream stream;
  const OnDevice<float> images(twice(r.image)), weights(r.weights), bias(r.bias), passed(twice(r.gradient));
  const OnDevice<float> out(Floats(2 * s.out_elements())), images_gradient(Floats(2 * s.in_elements()));
  const OnDevice<float> weights_gradient((Floats(s.weights()))), bias_gradient((Floats(s.maps)));
  const OnDevice<std::uint8_t> winner(std::vector<std::uint8_t>(2 * s.out_elements()));
  const kernels::Queue queue = stream.queue();
  kernels::convolution_pool_forward(queue, s, 2, images.data(), weights.data(), bias.data(), out.data(),
                                    winner.data());
  kernels::pass_gradient(queue, s, 2, winner.data(), passed.data());
  kernels::convolution_pool_backward_weights(queue, s, 2, images.data(), passed.data(), winner.data(),
                                             weights_gradient.data(), bias_gradient.data());
  kernels::convolution_pool_backward_data(queue, s, 2, passed.data(), winner.data(), weights.data(),
                                          images_gradient.data());
  const auto second = [](auto all) {
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
    return all;
  };
  ConvolutionResults run(s);
  run.out = second(out.values(stream));
  run.winner = second(winner.values(stream));
  run.image_gradient = second(images_gradient.values(stream));
  run.weights_gradient = weights_gradient.values(stream);
  run.bias_gradient = bias_gradient.values(stream);
  for (Floats* sums : {&run.weights_gradient, &run.bias_gradient})
    for (float& sum : *sums) sum /= 2.0F;
  return run;
}

class Shapes : public testing::TestWithParam<ConvolutionShape> {};
INSTANTIATE_TEST_SUITE_P(Convolution, Shapes, testing::ValuesIn(kConvolutionShapes));

TEST_P(Shapes, ConvolutionIsThatOfTheCpu) {
  const ConvolutionReference r(GetParam());
  const ConvolutionResults run = by_device(r);
  check_forward(r, run);
  check_backward(r, run);
}

constexpr double kTolerance = 5e-5;

void check_dense(const kernels::DenseShape& s) {
  const Floats x = random_values(s.batch * s.in, 1), weights = random_values(s.out * s.in, 2),
               bias = random_values(s.out, 3), gradient = random_values(s.batch * s.out, 4);
  Floats y(s.batch * s.out), transposed(y.size()), masked = gradient, weights_gradient(weights.size()),
                                                   bias_gradient(s.out), x_gradient(x.size());
  kernels::dense_forward(s, x.data(), weights.data(), bias.data(), transposed.data(), y.data());
  kernels::dense_backward_weights(s, x.data(), y.data(), masked.data(), weights_gradient.data(),
                                  bias_gradient.data());
  kernels::dense_backward_data(s, masked.data(), weights.data(), x_gradient.data());

  using kernels::Op;
  const cuda::Stream stream;
  const cuda::Blas blas(stream);
  const OnDevice<float> dx(x), dw(weights), db(bias), dg(gradient), dy((Floats(y.size())));
  const OnDevice<float> dwg((Floats(weights.size()))), dbg((Floats(s.out))), dxg((Floats(x.size())));
  blas.gemm({Op::none, Op::transpose, s.batch, s.out, s.in}, dx.data(), dw.data(), dy.data());
  kernels::activate(stream.queue(), s, db.data(), dy.data());
  kernels::pass_dense_gradient(stream.queue(), s, dy.data(), dg.data(), dbg.data());
  blas.gemm({Op::transpose, Op::none, s.out, s.in, s.batch}, dg.data(), dx.data(), dwg.data());
  blas.gemm({Op::none, Op::none, s.batch, s.in, s.out}, dg.data(), dw.data(), dxg.data());
  expect_near(dy.values(stream), y, kTolerance);
  expect_near(dwg.values(stream), weights_gradient, kTolerance);
  expect_near(dbg.values(stream), bias_gradient, kTolerance);
  expect_near(dxg.values(stream), x_gradient, kTolerance);
}

TEST(Dense, IsThatOfTheCpu) {
  for (const bool relu : {false, true}) {
    check_dense({1, 1, 1, relu});
    check_dense({5, 33, 17, relu});
    check_dense({64, 400, 120, relu});
    check_dense({64, 84, 10, relu});
  }
}

TEST(Loss, SoftmaxIsThatOfTheCpu) {
  const cuda::Stream stream;
  for (const std::size_t batch : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{1001}}) {
    constexpr std::size_t kClasses = 11;
    Floats logits = random_values(batch * kClasses, 1);
    std::vector<std::uint8_t> labels(batch);
    for (std::size_t i = 0; i < batch; ++i) labels[i] = static_cast<std::uint8_t>(i * 7 % kClasses);
    const OnDevice<float> on_device(logits);
    const OnDevice<std::uint8_t> labels_on_device(labels);
    const OnDevice<kernels::SoftmaxResult> result(std::vector<kernels::SoftmaxResult>{{-1.0, 99}});
    kernels::softmax_cross_entropy(stream.queue(), batch, kClasses, labels_on_device.data(), 0.5F,
                                   on_device.data(), result.data());
    const auto wanted = kernels::softmax_cross_entropy(batch, kClasses, labels.data(), 0.5F, logits.data());
    const auto found = result.values(stream).front();
    EXPECT_EQ(found.correct, wanted.correct);
    EXPECT_NEAR(found.loss_sum, wanted.loss_sum, 1e-6 * (1.0 + wanted.loss_sum));
    expect_near(on_device.values(stream), logits, 1e-6);
  }
}

TEST(Loss, SigmoidIsThatOfTheCpu) {
  const cuda::Stream stream;
  for (const std::size_t batch : {std::size_t{0}, std::size_t{1}, std::size_t{37}, std::size_t{501}}) {
    constexpr std::size_t kClasses = 10;
    Floats logits = random_values(batch * kClasses, 1);
    for (std::size_t i = 0; i < logits.size(); i += 9) logits[i] *= 100.0F;
    std::vector<std::uint16_t> tags(batch);
    for (std::size_t i = 0; i < batch; ++i) tags[i] = static_cast<std::uint16_t>(i * 37 % 1024);
    const OnDevice<float> on_device(logits);
    const OnDevice<std::uint16_t> tags_on_device(tags);
    const OnDevice<double> sum(std::vector<double>{-1.0});
    kernels::sigmoid_cross_entropy(stream.queue(), batch, kClasses, tags_on_device.data(), 0.5F,
                                   on_device.data(), sum.data());
    const double wanted = kernels::sigmoid_cross_entropy(batch, kClasses, tags.data(), 0.5F, logits.data());
    EXPECT_NEAR(sum.values(stream).front(), wanted, 1e-6 * (1.0 + wanted));
    expect_near(on_device.values(stream), logits, 1e-6);
  }
}

}  // namespace
}  // namespace steelyard::test
