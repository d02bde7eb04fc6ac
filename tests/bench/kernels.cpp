/// @file
/// Speed of the kernels on one core, beside what that core can do at best: multiply-adds in registers, copies
/// and scaling in its cache and in memory. By Google Benchmark, whose options it takes. The counters are
/// rates: `flop` floating-point operations and `bytes` moved, both of the mathematics (a convolution that
/// leaves out what max-pooling throws away still counts all its taps forward, and a quarter of them
/// backward).

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/elementwise.hpp"
#include "kernels/gemm.hpp"
#include "kernels/softmax.hpp"
#include "src/model/chain.hpp"
#include "src/optim/optimizer.hpp"
#include "tests/bench/support/machine.hpp"

namespace steelyard::bench {
namespace {

using benchmark::State;

constexpr std::size_t kBatch = 64;
constexpr std::size_t kInCache = 64U << 10U;  ///< Bytes of an array; a few of them fit into the second level.
constexpr std::size_t kInMemory = 64U << 20U;
constexpr kernels::ConvolutionShape kFirst{1, 28, 28, 6, 5, 2};
constexpr kernels::ConvolutionShape kSecond{6, 14, 14, 16, 5, 0};

void set_rate(State& state, const char* name, double per_iteration) {
  state.counters[name] = benchmark::Counter(per_iteration, benchmark::Counter::kIsIterationInvariantRate);
}

void peak(State& state) {
  double operations = 0.0;
  for (auto _ : state) operations = multiply_and_add(10'000);
  set_rate(state, "flop", operations);
}

void copy(State& state, std::size_t bytes) {
  Copy both(bytes);
  for (auto _ : state) both.once();
  set_rate(state, "bytes", 2.0 * static_cast<double>(bytes));
}

/// In place, as updates are: what is written need not be fetched first, so it is faster than a copy.
void scale(State& state, std::size_t bytes) {
  AlignedArray<float> all(bytes / sizeof(float));
  for (auto _ : state) {
    for (float& value : all.span()) value *= 0.999F;
    benchmark::ClobberMemory();
  }
  set_rate(state, "bytes", 2.0 * static_cast<double>(bytes));
}

/// A layer of a model with its parameters and inputs that are neither zero nor denormal.
struct LayerBench {
  LayerBench(std::unique_ptr<Layer> made, std::vector<std::size_t> weights, std::size_t in_elements)
      : layer(std::move(made)), in(kBatch * in_elements), in_gradient(in.size() + kernels::kSlack) {
    append_layer(inventory, "layer", std::move(weights));
    parameters = std::make_unique<Parameters>(inventory, packed_layout(inventory));
    parameters->initialise(1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = 0.01F * static_cast<float>(i * 37 % 199) - 1.0F;
    layer->forward(kBatch, in.data(), *parameters);
  }

  void forward(State& state) {
    for (auto _ : state) layer->forward(kBatch, in.data(), *parameters);
  }

  void backward(State& state, bool with_data) {
    for (auto _ : state) {
      std::ranges::fill(layer->out_gradient(), 0.01F);
      layer->backward(kBatch, in.data(), with_data ? in_gradient.data() : nullptr, *parameters);
    }
  }

  Inventory inventory;
  std::unique_ptr<Layer> layer;
  AlignedArray<float> in;
  AlignedArray<float> in_gradient;
  std::unique_ptr<Parameters> parameters;
};

LayerBench convolution_bench(const kernels::ConvolutionShape& shape) {
  return {make_convolution_pool(0, kBatch, shape),
          {shape.maps, shape.channels, shape.kernel, shape.kernel},
          shape.in_elements()};
}

double convolution_flops(const kernels::ConvolutionShape& shape) {
  return 2.0 * static_cast<double>(kBatch * shape.weights() * shape.out_height() * shape.out_width());
}

void convolution_forward(State& state, const kernels::ConvolutionShape& shape) {
  convolution_bench(shape).forward(state);
  set_rate(state, "flop", convolution_flops(shape));
}

/// The first layer of a network owes nobody the gradient of its input.
void convolution_backward(State& state, const kernels::ConvolutionShape& shape, bool with_data) {
  convolution_bench(shape).backward(state, with_data);
  set_rate(state, "flop", convolution_flops(shape) / 4.0 * (with_data ? 2.0 : 1.0));
}

LayerBench dense_bench(std::size_t in, std::size_t out) {
  return {make_dense(0, kBatch, in, out, true), {out, in}, in};
}

void dense_forward(State& state, std::size_t in, std::size_t out) {
  dense_bench(in, out).forward(state);
  set_rate(state, "flop", 2.0 * static_cast<double>(kBatch * in * out));
}

void dense_backward(State& state, std::size_t in, std::size_t out) {
  dense_bench(in, out).backward(state, true);
  set_rate(state, "flop", 4.0 * static_cast<double>(kBatch * in * out));
}

void gemm(State& state, std::size_t size) {
  AlignedArray<float> a(size * size), b(size * size), c(size * size);
  std::ranges::fill(a.span(), 0.5F);
  std::ranges::fill(b.span(), 0.25F);
  const kernels::Gemm shape{.m = size, .n = size, .k = size};
  for (auto _ : state) kernels::gemm(shape, a.data(), b.data(), c.data());
  set_rate(state, "flop", 2.0 * static_cast<double>(size * size * size));
}

/// Values, gradients and state are read; values and state written.
void update(State& state, const char* name, std::size_t bytes) {
  const auto optimizer = std::move(make_optimizer(name, {})).value();
  const std::size_t count = bytes / sizeof(float);
  AlignedArray<float> values(count), gradient(count), kept(count * optimizer->state_per_element());
  std::ranges::fill(values.span(), 0.5F);
  std::ranges::fill(gradient.span(), 1e-3F);
  Update one{values.span(), gradient.span(), values.span(), kept.span(), 1};
  for (auto _ : state) {
    optimizer->apply(one);
    ++one.count;
  }
  const auto kept_arrays = static_cast<double>(optimizer->state_per_element());
  set_rate(state, "bytes", static_cast<double>(bytes) * (3.0 + 2.0 * kept_arrays));
}

void add(State& state, std::size_t bytes) {
  AlignedArray<float> target(bytes / sizeof(float)), source(target.size());
  for (auto _ : state) kernels::add(target.span(), source.span());
  set_rate(state, "bytes", 3.0 * static_cast<double>(bytes));
}

void softmax(State& state, std::size_t classes) {
  AlignedArray<float> logits(kBatch * classes);
  const std::vector<std::uint8_t> labels(kBatch, 3);
  for (auto _ : state) {
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = 0.1F * static_cast<float>(i % 7);
    kernels::softmax_cross_entropy(kBatch, classes, labels.data(), 1.0F, logits.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kBatch) * state.iterations());
}

BENCHMARK(peak);
BENCHMARK_CAPTURE(copy, cache, kInCache);
BENCHMARK_CAPTURE(copy, memory, kInMemory);
BENCHMARK_CAPTURE(scale, cache, kInCache);
BENCHMARK_CAPTURE(scale, memory, kInMemory);
BENCHMARK_CAPTURE(convolution_forward, lenet1, kFirst);
BENCHMARK_CAPTURE(convolution_forward, lenet2, kSecond);
BENCHMARK_CAPTURE(convolution_backward, lenet1, kFirst, false);
BENCHMARK_CAPTURE(convolution_backward, lenet2, kSecond, true);
BENCHMARK_CAPTURE(dense_forward, 784x4096, 784, 4096);
BENCHMARK_CAPTURE(dense_backward, 4096x256, 4096, 256);
BENCHMARK_CAPTURE(dense_forward, 400x120, 400, 120);
BENCHMARK_CAPTURE(dense_backward, 400x120, 400, 120);
BENCHMARK_CAPTURE(gemm, 128, 128);
BENCHMARK_CAPTURE(gemm, 512, 512);
#define OPTIMIZER(name, help)                               \
  BENCHMARK_CAPTURE(update, name##_cache, #name, kInCache); \
  BENCHMARK_CAPTURE(update, name##_memory, #name, kInMemory);
#include "src/optim/optimizers.def"
#undef OPTIMIZER
BENCHMARK_CAPTURE(add, cache, kInCache);
BENCHMARK_CAPTURE(add, memory, kInMemory);
BENCHMARK_CAPTURE(softmax, 10, 10);

}  // namespace
}  // namespace steelyard::bench

int main(int argc, char** argv) {
  steelyard::kernels::use_one_thread();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
