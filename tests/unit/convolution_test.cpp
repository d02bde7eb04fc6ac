#include "kernels/convolution.hpp"

#include "kernels/convolution_terms.hpp"
#include "tests/support/convolution_reference.hpp"
#include "tests/support/instruction_sets.hpp"

namespace steelyard::test {
namespace {

ConvolutionResults by_kernels(const ConvolutionReference& r) {
  const ConvolutionShape& s = r.s;
  ConvolutionResults run(s);
  Values frame(s.frame_elements()), packed(s.packed_elements()), rows(s.rows_elements());
  kernels::pad(s, r.image.data(), frame.data());
  kernels::pack_weights(s, r.weights.data(), packed.data());
  kernels::convolution_pool_forward(s, frame.data(), packed.data(), r.bias.data(), rows.data(),
                                    run.out.data(), run.winner.data());
  Values passed = r.gradient, sums(s.tap_rows_elements()), tap_rows(s.tap_rows_elements());
  passed.resize(passed.size() + kernels::kSlack);
  kernels::pass_gradient(s, run.winner.data(), passed.data());
  kernels::convolution_pool_backward_weights(s, frame.data(), passed.data(), run.winner.data(), sums.data(),
                                             run.bias_gradient.data());
  kernels::unpack_tap_rows(s, sums.data(), run.weights_gradient.data());
  kernels::pack_tap_rows(s, r.weights.data(), tap_rows.data());
  Values frame_gradient(s.frame_elements());
  std::vector<std::uint64_t> masks(4 * s.pooled());
  kernels::convolution_pool_backward_data(s, passed.data(), run.winner.data(), tap_rows.data(), masks.data(),
                                          frame_gradient.data());
  kernels::crop(s, frame_gradient.data(), run.image_gradient.data());
  return run;
}

/// As the threads of a GPU do it, one after the other.
ConvolutionResults by_terms(const ConvolutionReference& r) {
  const kernels::ConvolutionTerms terms{r.s};
  ConvolutionResults run(r.s);
  Values passed = r.gradient;
  for (std::size_t i = 0; i < r.s.out_elements(); ++i) {
    const auto [value, winner] = terms.output(r.image.data(), r.weights.data(), r.bias.data(), i);
    run.out[i] = value;
    run.winner[i] = winner;
    passed[i] = kernels::Passed{}(winner, passed[i]);
    run.bias_gradient[i % r.s.maps] += passed[i];
  }
  for (std::size_t i = 0; i < r.s.weights(); ++i)
    for (std::size_t pixel = 0; pixel < r.s.pooled(); ++pixel)
      run.weights_gradient[i] +=
          terms.weight_term(r.image.data(), passed.data(), run.winner.data(), i, pixel);
  for (std::size_t i = 0; i < r.s.in_elements(); ++i)
    run.image_gradient[i] = terms.image_gradient(passed.data(), run.winner.data(), r.weights.data(), i);
  return run;
}

bool has_nan(const Values& values) {
  return std::ranges::any_of(values, [](float value) { return std::isnan(value); });
}

class Shapes : public testing::TestWithParam<ConvolutionShape> {};
INSTANTIATE_TEST_SUITE_P(Convolution, Shapes, testing::ValuesIn(kConvolutionShapes));

TEST_P(Shapes, ForwardIsTheGreatestOfFourAfterBiasAndReLU) {
  const ConvolutionReference r(GetParam());
  with_every_instruction_set([&] { check_forward(r, by_kernels(r)); });
}

TEST_P(Shapes, BackwardSendsEachGradientToItsWinner) {
  const ConvolutionReference r(GetParam());
  with_every_instruction_set([&] { check_backward(r, by_kernels(r)); });
}

TEST_P(Shapes, TermsOfAGpuAreTheSameConvolution) {
  const ConvolutionReference r(GetParam());
  const ConvolutionResults run = by_terms(r);
  check_forward(r, run);
  check_backward(r, run);
}

TEST(Convolution, ANotANumberTravelsOn) {
  ConvolutionReference r({1, 28, 28, 6, 5, 2});
  r.image[400] = std::nanf("");
  with_every_instruction_set([&] { EXPECT_TRUE(has_nan(by_kernels(r).out)); });
  EXPECT_TRUE(has_nan(by_terms(r).out));
}

}  // namespace
}  // namespace steelyard::test
