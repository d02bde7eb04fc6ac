#pragma once

/// @file
/// Layers one after the other, and what their outputs are measured by.

#include <memory>
#include <vector>

#include "kernels/convolution.hpp"
#include "src/model/model.hpp"

namespace steelyard {

/// One layer: a weight and a bias tensor, and its own output. Borrowed pointers are [batch, elements].
class Layer {
 public:
  virtual ~Layer() = default;
  virtual void forward(std::size_t batch, const float* in, Parameters& parameters) = 0;
  /// Overwrites `out_gradient` and the gradients of weight and bias.
  /// @param[out] in_gradient null where nobody needs it.
  virtual void backward(std::size_t batch, const float* in, float* in_gradient, Parameters& parameters) = 0;
  virtual std::span<float> out() = 0;           ///< [max_batch, elements]
  virtual std::span<float> out_gradient() = 0;  ///< [max_batch, elements]
};

/// Every layer owns two tensors: its weight is `first`, its bias `first` + 1.
std::unique_ptr<Layer> make_dense(TensorId first, std::size_t max_batch, std::size_t in, std::size_t out,
                                  bool relu);
/// Convolution, bias, ReLU, 2x2 max-pooling.
std::unique_ptr<Layer> make_convolution_pool(TensorId first, std::size_t max_batch,
                                             const kernels::ConvolutionShape& shape);

/// The loss of a batch. @param logits [batch.count, classes], replaced by the gradient of scale * (sum of
/// losses).
using Loss = BatchResult(const Batch& batch, std::size_t classes, float scale, float* logits);
Loss softmax_loss;  ///< One label per sample: softmax and cross-entropy.
Loss sigmoid_loss;  ///< Sets of tags: sigmoid and binary cross-entropy, summed over the classes.

std::unique_ptr<Model> make_chain(std::vector<std::unique_ptr<Layer>> layers, std::size_t classes,
                                  Loss* loss = softmax_loss);

/// Weight and bias of one layer; both start uniform in +-1/sqrt(fan_in) (LeCun's bound as PyTorch applies
/// it).
void append_layer(Inventory& inventory, const std::string& name, std::vector<std::size_t> weight_shape);

}  // namespace steelyard
