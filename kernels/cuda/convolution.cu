#include "kernels/cuda/convolution.hpp"

#include "kernels/convolution_terms.hpp"
#include "kernels/cuda/reduce.cuh"

namespace steelyard::kernels {
namespace {

struct OutputBody {
  ConvolutionTerms terms;
  const float* images;
  const float* weights;
  const float* bias;
  float* out;
  std::uint8_t* winner;

  template <std::size_t>
  __device__ void at(std::size_t i) const {
    const std::size_t image = i / terms.s.out_elements();
    const auto [value, who] =
        terms.output(images + image * terms.s.in_elements(), weights, bias, i % terms.s.out_elements());
    out[i] = value;
    winner[i] = who;
  }
};

struct PassBody {
  const std::uint8_t* winner;
  float* gradient;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    const auto who = load<N>(winner + i);
    auto passed = load<N>(gradient + i);
    for (std::size_t k = 0; k < N; ++k) passed.at[k] = Passed{}(who.at[k], passed.at[k]);
    store(gradient + i, passed);
  }
};

/// Items are the pooled pixels of all images.
struct WeightTerm {
  ConvolutionTerms terms;
  const float* images;
  const float* passed;
  const std::uint8_t* winner;

  __device__ float operator()(std::size_t weight, std::size_t item) const {
    const std::size_t image = item / terms.s.pooled();
    const std::size_t out = image * terms.s.out_elements();
    return terms.weight_term(images + image * terms.s.in_elements(), passed + out, winner + out, weight,
                             item % terms.s.pooled());
  }
};

struct BiasTerm {
  std::size_t maps;
  const float* passed;

  __device__ float operator()(std::size_t map, std::size_t item) const { return passed[item * maps + map]; }
};

struct ImageGradientBody {
  ConvolutionTerms terms;
  const float* passed;
  const std::uint8_t* winner;
  const float* weights;
  float* gradient;

  template <std::size_t>
  __device__ void at(std::size_t i) const {
    const std::size_t out = i / terms.s.in_elements() * terms.s.out_elements();
    gradient[i] = terms.image_gradient(passed + out, winner + out, weights, i % terms.s.in_elements());
  }
};

}  // namespace

void convolution_pool_forward(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                              const float* images, const float* weights, const float* bias, float* out,
                              std::uint8_t* winner) {
  launch_packs<1>(queue, "convolution_pool_forward", batch * shape.out_elements(),
                  OutputBody{{shape}, images, weights, bias, out, winner});
}

void pass_gradient(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                   const std::uint8_t* winner, float* gradient) {
  launch<4>(queue, "pass_gradient", batch * shape.out_elements(), PassBody{winner, gradient}, winner,
            gradient);
}

void convolution_pool_backward_weights(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                                       const float* images, const float* passed, const std::uint8_t* winner,
                                       float* weights_gradient, float* bias_gradient) {
  const std::size_t items = batch * shape.pooled();
  launch_sums(queue, "convolution_pool_backward_weights", shape.weights(), items,
              WeightTerm{{shape}, images, passed, winner}, weights_gradient);
  launch_sums(queue, "convolution_pool_backward_bias", shape.maps, items, BiasTerm{shape.maps, passed},
              bias_gradient);
}

void convolution_pool_backward_data(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                                    const float* passed, const std::uint8_t* winner, const float* weights,
                                    float* images_gradient) {
  launch_packs<1>(queue, "convolution_pool_backward_data", batch * shape.in_elements(),
                  ImageGradientBody{{shape}, passed, winner, weights, images_gradient});
}

}  // namespace steelyard::kernels
