#include "src/model/chain.hpp"

namespace steelyard {
namespace {

// LeCun et al. 1998 with ReLU and max-pooling; 61,706 parameters.
constexpr kernels::ConvolutionShape kFirst{1, 28, 28, 6, 5, 2};
constexpr kernels::ConvolutionShape kSecond{6, 14, 14, 16, 5, 0};
constexpr std::size_t kFlat = 16 * 5 * 5;
constexpr std::size_t kClasses = 10;

std::unique_ptr<Model> make_lenet(const ModelRequest& request) {
  const std::size_t max_batch = request.max_batch;
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(make_convolution_pool(0, max_batch, kFirst));
  layers.push_back(make_convolution_pool(2, max_batch, kSecond));
  layers.push_back(make_dense(4, max_batch, kFlat, 120, true));
  layers.push_back(make_dense(6, max_batch, 120, 84, true));
  layers.push_back(make_dense(8, max_batch, 84, kClasses, false));
  return make_chain(std::move(layers), kClasses);
}

}  // namespace

Expected<ModelSpec> describe_lenet(std::string_view arguments) {
  if (!arguments.empty())
    return Error{"model 'lenet:" + std::string(arguments) + "': lenet takes nothing after it, say lenet"};
  ModelSpec spec;
  spec.inputs = kFirst.in_elements();
  spec.classes = kClasses;
  append_layer(spec.inventory, "conv1", {6, 1, 5, 5});
  append_layer(spec.inventory, "conv2", {16, 6, 5, 5});
  append_layer(spec.inventory, "fc1", {120, kFlat});
  append_layer(spec.inventory, "fc2", {84, 120});
  append_layer(spec.inventory, "fc3", {kClasses, 84});
  spec.make = make_lenet;
  return spec;
}

}  // namespace steelyard
