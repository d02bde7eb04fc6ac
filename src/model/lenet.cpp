#include "src/model/lenet.hpp"

namespace steelyard {
namespace {

constexpr std::size_t kClasses = 10;

/// Padded, so that its outputs before pooling are as many as its pixels.
kernels::ConvolutionShape first_of(const LenetShape& shape) {
  return {shape.channels, shape.side, shape.side, 6, 5, 2};
}

kernels::ConvolutionShape second_of(const LenetShape& shape) {
  return {6, shape.side / 2, shape.side / 2, 16, 5, 0};
}

std::unique_ptr<Model> make_lenet(const LenetShape& shape, std::size_t max_batch) {
  const kernels::ConvolutionShape second = second_of(shape);
  const std::size_t wider = shape.wider;
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(make_convolution_pool(0, max_batch, first_of(shape)));
  layers.push_back(make_convolution_pool(2, max_batch, second));
  layers.push_back(make_dense(4, max_batch, second.out_elements(), 120 * wider, true));
  layers.push_back(make_dense(6, max_batch, 120 * wider, 84 * wider, true));
  layers.push_back(make_dense(8, max_batch, 84 * wider, kClasses, false));
  return make_chain(std::move(layers), kClasses, shape.loss);
}

}  // namespace

ModelSpec lenet_spec(const LenetShape& shape) {
  const std::size_t wider = shape.wider;
  ModelSpec spec;
  spec.inputs = first_of(shape).in_elements();
  spec.classes = kClasses;
  append_layer(spec.inventory, "conv1", {6, shape.channels, 5, 5});
  append_layer(spec.inventory, "conv2", {16, 6, 5, 5});
  append_layer(spec.inventory, "fc1", {120 * wider, second_of(shape).out_elements()});
  append_layer(spec.inventory, "fc2", {84 * wider, 120 * wider});
  append_layer(spec.inventory, "fc3", {kClasses, 84 * wider});
  spec.make = [shape](const ModelRequest& request) { return make_lenet(shape, request.max_batch); };
  return spec;
}

Expected<ModelSpec> describe_lenet(std::string_view arguments) {
  if (!arguments.empty())
    return Error{"model 'lenet:" + std::string(arguments) +
                 "': lenet takes nothing after it, say lenet, or lenet-wide:K"};
  return lenet_spec({});
}

}  // namespace steelyard
