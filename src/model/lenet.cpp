#include "src/model/lenet.hpp"

#include "src/model/chain.hpp"

namespace steelyard {
namespace {

constexpr kernels::ConvolutionShape kFirst{1, 28, 28, 6, 5, 2};
constexpr kernels::ConvolutionShape kSecond{6, 14, 14, 16, 5, 0};
constexpr std::size_t kFlat = 16 * 5 * 5;
constexpr std::size_t kClasses = 10;

std::unique_ptr<Model> make_lenet(std::size_t wider, std::size_t max_batch) {
  std::vector<std::unique_ptr<Layer>> layers;
  layers.push_back(make_convolution_pool(0, max_batch, kFirst));
  layers.push_back(make_convolution_pool(2, max_batch, kSecond));
  layers.push_back(make_dense(4, max_batch, kFlat, 120 * wider, true));
  layers.push_back(make_dense(6, max_batch, 120 * wider, 84 * wider, true));
  layers.push_back(make_dense(8, max_batch, 84 * wider, kClasses, false));
  return make_chain(std::move(layers), kClasses);
}

}  // namespace

ModelSpec lenet_spec(std::size_t wider) {
  ModelSpec spec;
  spec.inputs = kFirst.in_elements();
  spec.classes = kClasses;
  append_layer(spec.inventory, "conv1", {6, 1, 5, 5});
  append_layer(spec.inventory, "conv2", {16, 6, 5, 5});
  append_layer(spec.inventory, "fc1", {120 * wider, kFlat});
  append_layer(spec.inventory, "fc2", {84 * wider, 120 * wider});
  append_layer(spec.inventory, "fc3", {kClasses, 84 * wider});
  spec.make = [wider](const ModelRequest& request) { return make_lenet(wider, request.max_batch); };
  return spec;
}

Expected<ModelSpec> describe_lenet(std::string_view arguments) {
  if (!arguments.empty())
    return Error{"model 'lenet:" + std::string(arguments) +
                 "': lenet takes nothing after it, say lenet, or lenet-wide:K"};
  return lenet_spec(1);
}

}  // namespace steelyard
