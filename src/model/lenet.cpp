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

ChainShape chain_of(const LenetShape& shape) {
  const kernels::ConvolutionShape first = first_of(shape);
  const kernels::ConvolutionShape second = second_of(shape);
  const std::size_t wider = shape.wider;
  using kernels::DenseShape;
  return {{first, second, DenseShape{0, second.out_elements(), 120 * wider, true},
           DenseShape{0, 120 * wider, 84 * wider, true}, DenseShape{0, 84 * wider, kClasses, false}},
          first.in_elements(),
          kClasses,
          shape.tagged};
}

}  // namespace

ModelSpec lenet_spec(const LenetShape& shape) {
  const std::size_t wider = shape.wider;
  ModelSpec spec;
  const ChainShape chain = chain_of(shape);
  spec.inputs = chain.inputs;
  spec.classes = chain.classes;
  spec.tagged = chain.tagged;
  append_layer(spec.inventory, "conv1", {6, shape.channels, 5, 5});
  append_layer(spec.inventory, "conv2", {16, 6, 5, 5});
  append_layer(spec.inventory, "fc1", {120 * wider, second_of(shape).out_elements()});
  append_layer(spec.inventory, "fc2", {84 * wider, 120 * wider});
  append_layer(spec.inventory, "fc3", {kClasses, 84 * wider});
  spec.make = [chain](const ModelRequest& request) { return make_chain(chain, request); };
  return spec;
}

Expected<ModelSpec> describe_lenet(std::string_view arguments) {
  if (!arguments.empty())
    return Error{"model 'lenet:" + std::string(arguments) +
                 "': lenet takes nothing after it, say lenet, or lenet-wide:K"};
  return lenet_spec({});
}

}  // namespace steelyard
