#include "tests/support/harness.hpp"

#include <algorithm>
#include <cmath>

#include "modes/divergence.hpp"
#include "modes/feeder.hpp"

namespace steelyard::test {
namespace {

class Silent final : public StepObserver {
 public:
  void values_needed(TensorId) override {}
  void gradient_ready(TensorId) override {}
};

void truncate(Samples& samples, std::size_t count) {
  samples.count = count;
  if (!samples.draw) samples.pixels.resize(count * samples.inputs);
  if (samples.tags.empty()) samples.labels.resize(count);
  if (!samples.tags.empty()) samples.tags.resize(count);
}

}  // namespace

Dataset small_dataset(const ModelSpec& model, std::size_t train) {
  DatasetRequest request{"synthetic", "", model.inputs, model.classes, 3, model.tagged};
  if (!model.data.empty()) request.name = model.data;
  if (request.name == "clips") request.directory = own_data_directory() + "/fashion-mnist-sample";
  Dataset dataset = load_dataset(request).value();
  truncate(dataset.train, train);
  truncate(dataset.test, 50);
  return dataset;
}

const cli::Launch& launch() {
  // Never freed: static objects die after MPI_Finalize, which forbids freeing communicators.
  static const auto* const kLaunch = new cli::Launch(cli::Launch::begin("auto"));
  return *kLaunch;
}

TrialConfig small_config(Step steps) {
  TrialConfig config;
  config.optimizer = "momentum";
  config.optimizer_options = {0.05F, 0.9F};
  config.global_batch = 24;
  config.steps = steps;
  config.seed = 5;
  config.evaluate_at_end = false;
  config.bundle_bytes = 4096;
  config.piece_bytes = 32 * 1024;
  config.first_bucket_bytes = 2048;
  config.bucket_bytes = 16384;
  return config;
}

TrialConfig allreduce(TrialConfig config, const char* collective) {
  config.mode = "allreduce";
  config.servers = 0;
  config.collective = collective;
  return config;
}

mpi::Topology pretend_nodes(int nodes) {
  mpi::Topology topology = launch().topology;
  topology.nodes = std::min(nodes, topology.ranks());
  for (int rank = 0; rank < topology.ranks(); ++rank)
    topology.node_of_rank[static_cast<std::size_t>(rank)] = rank % topology.nodes;
  topology.shared_memory_of_node.assign(static_cast<std::size_t>(topology.nodes),
                                        topology.shared_memory_of_node.front());
  return topology;
}

Outcome run_trial(const TrialConfig& config, const ModelSpec& model, const Dataset& dataset,
                  const std::function<void(Step)>& progress, const mpi::Topology& topology,
                  const std::function<bool()>& told) {
  const cli::Launch& all = launch();
  const Mode& mode = *find_mode(config.mode).value();
  if (const auto good = check_trial(config, model, topology); !good) die(good.error().message);
  const Roles roles = mode.roles(config, topology.node_of_rank);
  const int worker = Roles::index_in(roles.workers, all.world.rank());
  const auto workers = all.world.split(worker == Roles::kNone ? -1 : 0);
  trace::Recorder recorder;
  recorder.begin_trial(0, config.steps, static_cast<int>(roles.workers.size()));
  Session session{config,  roles,    model,    dataset,  all.world, all.pushes, all.replies,
                  workers, topology, all.wait, recorder, progress,  true,       told};
  run_session(session);
  mpi::barrier(all.world, all.wait);

  Outcome outcome;
  outcome.values = session.final_values;
  outcome.values.resize(total_elements(model.inventory));
  outcome.hash = session.parameter_hash;
  outcome.own_hash = session.parameter_hash;
  const Rank first = roles.workers.front();
  mpi::broadcast(all.world, std::as_writable_bytes(std::span(outcome.values)), first);
  mpi::broadcast(all.world, std::as_writable_bytes(std::span(&outcome.hash, 1)), first);
  outcome.ranks = trace::gather_trial(all.world, recorder);
  outcome.evaluations = session.evaluations;
  outcome.choices = session.collective_choices;
  outcome.bucket_rebuilds = session.bucket_rebuilds;
  outcome.drops = session.drops;
  outcome.stopped = mpi::greatest(all.world, session.stopped ? 1 : 0) != 0;
  outcome.divergence = earliest(all.world, session.divergence);
  return outcome;
}

std::vector<float> serial(const TrialConfig& config, const ModelSpec& spec, const Dataset& dataset) {
  const auto optimizer = std::move(make_optimizer(config.optimizer, config.optimizer_options)).value();
  Parameters parameters(spec.inventory, packed_layout(spec.inventory));
  parameters.initialise(config.seed);
  AlignedArray<float> state(parameters.layout().elements * optimizer->state_per_element());
  Sampler sampler(dataset.train.count, config.global_batch, config.seed);
  Feeder feeder(dataset, config.global_batch);
  const auto model = spec.make({.max_batch = config.global_batch});
  Silent silent;
  for (Step step = 0; step < config.steps; ++step) {
    const Batch batch = feeder.batch(dataset.train, sampler.slice(step, {0, 1}));
    model->forward(batch, 1.0F / static_cast<float>(batch.count), parameters, silent);
    model->backward(batch, parameters, silent);
    optimizer->apply({parameters.value_arena(), parameters.gradient_arena(), parameters.value_arena(),
                      state.span(), step + 1});
  }
  const auto values = parameters.value_arena();
  return {values.begin(), values.end()};
}

double distance(const ModelSpec& model, const std::vector<float>& a, const std::vector<float>& b) {
  double greatest = 0.0;
  std::size_t begin = 0;
  for (const Tensor& tensor : model.inventory) {
    double difference = 0.0;
    double norm = 0.0;
    for (std::size_t i = begin; i < begin + tensor.elements(); ++i) {
      difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
      norm += std::pow(static_cast<double>(b[i]), 2);
    }
    greatest = std::max(greatest, std::sqrt(difference / norm));
    begin += tensor.elements();
  }
  return greatest;
}

}  // namespace steelyard::test
