// The kernels of every instruction set against their formulas in double precision, at sizes that are no
// multiple of a vector. Convolution and the optimizers have tests of their own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/dense.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/sigmoid.hpp"
#include "kernels/softmax.hpp"
#include "src/base/random.hpp"
#include "tests/support/instruction_sets.hpp"

namespace steelyard {
namespace {

using Values = std::vector<float>;
using test::with_every_instruction_set;

constexpr std::size_t kCounts[] = {0, 1, 7, 16, 31, 67, 1001};

Values noise(std::size_t count, std::uint64_t stream) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random_unit(7, stream, i);
  return values;
}

TEST(EveryInstructionSet, AddsExactlyWhatSinglePrecisionAdds) {
  with_every_instruction_set([] {
    for (const std::size_t count : kCounts) {
      const Values a = noise(count, 1);
      const Values b = noise(count, 2);
      Values in_place = a;
      Values sum(count);
      kernels::add(in_place, b);
      kernels::add(sum, a, b);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(in_place[i], a[i] + b[i]) << i << " of " << count;
        ASSERT_EQ(sum[i], a[i] + b[i]) << i << " of " << count;
      }
    }
  });
}

TEST(EveryInstructionSet, NormalisesEveryByte) {
  std::vector<std::uint8_t> pixels(256 + 3);
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
  with_every_instruction_set([&] {
    Values values(pixels.size());
    kernels::normalise(pixels, 0.286F, 0.353F, values);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      ASSERT_NEAR(values[i], (pixels[i] / 255.0 - 0.286) / 0.353, 1e-6) << i;
  });
}

/// A dense layer, one element at a time in double precision.
struct Dense {
  explicit Dense(const kernels::DenseShape& shape)
      : s(shape),
        x(noise(s.batch * s.in, 1)),
        weights(noise(s.out * s.in, 2)),
        bias(noise(s.out, 3)),
        gradient(noise(s.batch * s.out, 4)) {}

  double output(std::size_t row, std::size_t out) const {
    double sum = bias[out];
    for (std::size_t i = 0; i < s.in; ++i) sum += double{x[row * s.in + i]} * weights[out * s.in + i];
    return s.relu ? std::max(sum, 0.0) : sum;
  }
  double passed(const Values& y, std::size_t row, std::size_t out) const {
    return s.relu && y[row * s.out + out] <= 0.0F ? 0.0 : gradient[row * s.out + out];
  }
  double bias_gradient(const Values& y, std::size_t out) const {
    double sum = 0.0;
    for (std::size_t row = 0; row < s.batch; ++row) sum += passed(y, row, out);
    return sum;
  }
  double weight_gradient(const Values& y, std::size_t out, std::size_t in) const {
    double sum = 0.0;
    for (std::size_t row = 0; row < s.batch; ++row) sum += passed(y, row, out) * x[row * s.in + in];
    return sum;
  }
  double x_gradient(const Values& y, std::size_t row, std::size_t in) const {
    double sum = 0.0;
    for (std::size_t out = 0; out < s.out; ++out) sum += passed(y, row, out) * weights[out * s.in + in];
    return sum;
  }

  kernels::DenseShape s;
  Values x, weights, bias, gradient;
};

// Sums of up to a hundred products of numbers below 1 in single precision.
constexpr double kTolerance = 5e-5;

void check_dense(const kernels::DenseShape& s) {
  const Dense reference(s);
  Values y(s.batch * s.out), transposed(y.size()), gradient = reference.gradient, weights(s.out * s.in),
                                                   bias(s.out), x_gradient(s.batch * s.in);
  kernels::dense_forward(s, reference.x.data(), reference.weights.data(), reference.bias.data(),
                         transposed.data(), y.data());
  kernels::dense_backward_weights(s, reference.x.data(), y.data(), gradient.data(), weights.data(),
                                  bias.data());
  kernels::dense_backward_data(s, gradient.data(), reference.weights.data(), x_gradient.data());
  for (std::size_t row = 0; row < s.batch; ++row) {
    for (std::size_t out = 0; out < s.out; ++out)
      ASSERT_NEAR(y[row * s.out + out], reference.output(row, out), kTolerance) << row << " " << out;
    for (std::size_t in = 0; in < s.in; ++in)
      ASSERT_NEAR(x_gradient[row * s.in + in], reference.x_gradient(y, row, in), kTolerance);
  }
  for (std::size_t out = 0; out < s.out; ++out) {
    ASSERT_NEAR(bias[out], reference.bias_gradient(y, out), kTolerance) << out;
    for (std::size_t in = 0; in < s.in; ++in)
      ASSERT_NEAR(weights[out * s.in + in], reference.weight_gradient(y, out, in), kTolerance);
  }
}

TEST(EveryInstructionSet, DenseIsTheMatrixProductWithBiasAndReLU) {
  with_every_instruction_set([] {
    for (const bool relu : {false, true}) {
      check_dense({1, 1, 1, relu});
      check_dense({5, 33, 17, relu});
      check_dense({19, 7, 10, relu});
      check_dense({64, 84, 10, relu});
    }
  });
}

TEST(EveryInstructionSet, SoftmaxGivesLossAndItsGradient) {
  constexpr std::size_t kBatch = 5;
  const std::vector<std::uint8_t> labels{0, 3, 10, 7, 1};
  constexpr std::size_t kClasses = 11;
  const Values logits = noise(kBatch * kClasses, 1);
  with_every_instruction_set([&] {
    Values gradient = logits;
    const auto result =
        kernels::softmax_cross_entropy(kBatch, kClasses, labels.data(), 0.5F, gradient.data());
    double loss = 0.0;
    for (std::size_t row = 0; row < kBatch; ++row) {
      double sum = 0.0;
      for (std::size_t i = 0; i < kClasses; ++i) sum += std::exp(double{logits[row * kClasses + i]});
      loss += std::log(sum) - logits[row * kClasses + labels[row]];
      for (std::size_t i = 0; i < kClasses; ++i) {
        const double wanted = std::exp(double{logits[row * kClasses + i]}) / sum - (i == labels[row] ? 1 : 0);
        ASSERT_NEAR(gradient[row * kClasses + i], 0.5 * wanted, 1e-6) << row << " " << i;
      }
    }
    ASSERT_NEAR(result.loss_sum, loss, 1e-5);
  });
}

/// Loss and gradient of one logit in double precision, where exponentials of a hundred are no trouble.
std::pair<double, double> sigmoid_by_definition(double z, bool applies) {
  const double probability = 1.0 / (1.0 + std::exp(-z));
  return {applies ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)), probability - (applies ? 1.0 : 0.0)};
}

TEST(EveryInstructionSet, SigmoidGivesLossAndItsGradient) {
  constexpr std::size_t kBatch = 5;
  constexpr std::size_t kClasses = 11;
  const std::vector<std::uint16_t> tags{0, 0x7FF, 0x400, 0x155, 0x001};
  Values logits = noise(kBatch * kClasses, 1);
  for (float& z : logits) z *= 30.0F;  // Nearly 0 and nearly 1 too.
  with_every_instruction_set([&] {
    Values gradient = logits;
    const double sum = kernels::sigmoid_cross_entropy(kBatch, kClasses, tags.data(), 0.5F, gradient.data());
    double loss = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const bool applies = (tags[i / kClasses] >> i % kClasses & 1U) != 0;
      const auto [one, wanted] = sigmoid_by_definition(logits[i], applies);
      loss += one;
      ASSERT_NEAR(gradient[i], 0.5 * wanted, 2e-7) << i;
    }
    ASSERT_NEAR(sum, loss, 1e-6 * loss);
  });
}

TEST(EveryInstructionSet, SigmoidOfAnyLogitIsFiniteUnlessTheLogitIsNot) {
  with_every_instruction_set([] {
    const std::uint16_t tags = 0b0101;
    Values logits{1e30F, 1e30F, -1e30F, -1e30F};  // Right, wrong, wrong, right.
    EXPECT_DOUBLE_EQ(kernels::sigmoid_cross_entropy(1, 4, &tags, 1.0F, logits.data()), 2.0 * double{1e30F});
    EXPECT_EQ(logits, (Values{0.0F, 1.0F, -1.0F, 0.0F}));
    Values no_number{std::nanf("")};
    EXPECT_TRUE(std::isnan(kernels::sigmoid_cross_entropy(1, 1, &tags, 1.0F, no_number.data())));
    EXPECT_TRUE(std::isnan(no_number.front()));
  });
}

}  // namespace
}  // namespace steelyard
