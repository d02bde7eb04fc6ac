#pragma once

/// @file
/// Layers one after the other, and what their outputs are measured by.

#include <memory>
#include <variant>
#include <vector>

#include "kernels/convolution.hpp"
#include "kernels/dense.hpp"
#include "src/model/model.hpp"

namespace steelyard {

/// One layer: a weight and a bias tensor, and its own output. Borrowed pointers are [batch, elements], in the
/// memory of whoever computes.
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

/// What is before the first layer of a chain and behind the last.
class ChainEnds {
 public:
  virtual ~ChainEnds() = default;
  /// The features of a batch where layers read them.
  virtual const float* input(const Batch& batch) = 0;
  /// @param logits [batch.count, classes] @param[out] gradient of scale * (sum of losses), as `logits`.
  virtual BatchResult loss(const Batch& batch, float scale, std::span<const float> logits,
                           float* gradient) = 0;
  /// As Model::staging.
  virtual std::span<float> staging() { return {}; }
};

struct ChainShape {
  /// With the batch of a dense layer left open.
  std::vector<std::variant<kernels::ConvolutionShape, kernels::DenseShape>> layers;
  std::size_t inputs = 0;
  std::size_t classes = 0;
  /// Samples have sets of tags: sigmoid and binary cross-entropy, summed over the classes. Else one label:
  /// softmax and cross-entropy.
  bool tagged = false;
};

/// Everything of a chain that differs between CPU and GPU.
struct ChainParts {
  std::vector<std::unique_ptr<Layer>> layers;
  std::unique_ptr<ChainEnds> ends;
};
ChainParts make_host_parts(const ChainShape& shape, std::size_t max_batch);
std::unique_ptr<ChainEnds> make_host_ends(const ChainShape& shape);
/// @param stream must outlive the result.
ChainParts make_device_parts(const ChainShape& shape, std::size_t max_batch, const cuda::Stream& stream);

/// Weights and biases of the layers are the tensors of the inventory, in order.
std::unique_ptr<Model> make_chain(const ChainShape& shape, const ModelRequest& request);

/// Weight and bias of one layer; both start uniform in +-1/sqrt(fan_in) (LeCun's bound as PyTorch applies
/// it).
void append_layer(Inventory& inventory, const std::string& name, std::vector<std::size_t> weight_shape);

}  // namespace steelyard
