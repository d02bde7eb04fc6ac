// The first law: every synchronous mode is the serial algorithm, whatever the placement, backend, and number
// of ranks; short last batches and shares without a sample included.
#include <gtest/gtest.h>

#include <map>

#include "tests/support/harness.hpp"

namespace steelyard {
namespace {

// Sums in another order differ in the last bits of 32-bit floats; 20 steps carry that to about 1e-6. Adam and
// adagrad divide by the root of small squares, which magnifies it.
constexpr double kTolerance = 1e-5;
constexpr double kAdaptiveTolerance = 1e-4;

TrialConfig base() { return test::small_config(20); }

const std::vector<float>& serial_of(const TrialConfig& config, const ModelSpec& model,
                                    const Dataset& dataset) {
  static std::map<std::string, std::vector<float>> kKnown;
  auto& values = kKnown[model.name + config.optimizer];
  if (values.empty()) values = test::serial(config, model, dataset);
  return values;
}

void expect_serial(const TrialConfig& config, const std::string& name, double tolerance = kTolerance) {
  const ModelSpec model = describe_model(name).value();
  const Dataset dataset = test::small_dataset(model);
  const test::Outcome outcome = test::run_trial(config, model, dataset);
  const auto& wanted = serial_of(config, model, dataset);
  EXPECT_LE(test::distance(model, outcome.values, wanted), tolerance)
      << name << " " << config.mode << " servers " << config.servers << " " << config.placement << " "
      << config.collective << " " << config.optimizer;
}

/// 1, 2, and all but one of the ranks.
std::vector<int> numbers_of_servers() {
  const int ranks = test::launch().world.size();
  std::vector<int> numbers;
  for (const int servers : {1, 2, ranks - 1})
    if (servers >= 1 && servers < ranks && (numbers.empty() || numbers.back() < servers))
      numbers.push_back(servers);
  return numbers;
}

constexpr const char* kModels[] = {"lenet", "mlp:784-37-19-10"};
constexpr const char* kPlacements[] = {"round_robin", "largest_first", "p3",   "striped",
                                       "wrap",        "byteps",        "range"};
constexpr const char* kCollectives[] = {"auto", "mpi", "ring", "recursive", "shared"};

/// So that placements which cut large tensors cut those of small models too.
ps::PlacementOptions small_parts() {
  ps::PlacementOptions options;
  options.slice_elements = 5000;
  options.part_bytes = 9000;
  return options;
}

TEST(EqualsSerial, AllreduceWithEveryBackend) {
  for (const char* model : kModels)
    for (const char* collective : kCollectives) {
      TrialConfig config = test::allreduce(base(), collective);
      expect_serial(config, model);
    }
}

TEST(EqualsSerial, AllreduceWithEveryWireUpToItsRounding) {
  for (const auto& [wire, tolerance] : test::kNarrowWires)
    for (const char* collective : kCollectives) {
      TrialConfig config = test::allreduce(base(), collective);
      config.wire = wire;
      expect_serial(config, "mlp:784-10", tolerance);
    }
}

TEST(EqualsSerial, AShardedOptimizerWithEveryBackend) {
  for (const char* optimizer : {"sgd", "momentum", "nesterov", "adagrad", "adam"})
    for (const char* collective : kCollectives) {
      TrialConfig config = test::allreduce(base(), collective);
      config.sharded_optimizer = true;
      config.optimizer = optimizer;
      if (config.optimizer != "momentum") config.optimizer_options.rate = 0.01F;  // As in the others here.
      const bool adaptive = std::string_view(optimizer).starts_with("ad");
      expect_serial(config, "mlp:784-37-19-10", adaptive ? kAdaptiveTolerance : kTolerance);
    }
}

TEST(EqualsSerial, AShardedOptimizerWithEveryWireUpToItsRounding) {
  for (const auto& [wire, tolerance] : test::kNarrowWires)
    for (const char* collective : {"auto", "mpi", "ring", "recursive"}) {
      TrialConfig config = test::allreduce(base(), collective);
      config.wire = wire;
      config.sharded_optimizer = true;
      expect_serial(config, "mlp:784-10", tolerance);
    }
}

TEST(EqualsSerial, PsWithEveryWireUpToItsRounding) {
  const ModelSpec model = describe_model("mlp:784-10").value();
  const Dataset dataset = test::small_dataset(model);
  for (const auto& [wire, tolerance] : test::kNarrowWires)
    for (const test::Way& way : test::kWays)
      for (const int servers : numbers_of_servers()) {
        TrialConfig config = base();
        config.servers = servers;
        config.transport = way.transport;
        config.aggregate = way.aggregate;
        config.wire = wire;
        const mpi::Topology topology = test::pretend_nodes(way.nodes);
        const auto outcome = test::run_trial(
            config, model, dataset, [](Step) {}, topology);
        const double distance = test::distance(model, outcome.values, serial_of(config, model, dataset));
        EXPECT_LE(distance, tolerance) << wire << " " << way.transport << " " << way.nodes << " " << servers;
        const bool shared = find_mode("ps").value()->traffic(config, model, topology).transport == "shared";
        EXPECT_EQ(distance > kTolerance, !shared) << "what travels in messages is rounded, and nothing else";
      }
}

TEST(EqualsSerial, AllreduceOnSomeOfTheRanks) {
  TrialConfig config = base();
  config.mode = "allreduce";
  for (const int idle : numbers_of_servers()) {
    config.servers = idle;
    expect_serial(config, "mlp:784-37-19-10");
    config.collective = "recursive";
    config.sharded_optimizer = true;
    expect_serial(config, "mlp:784-37-19-10");
  }
}

TEST(EqualsSerial, PsBspWithEveryPlacement) {
  for (const char* model : kModels)
    for (const char* placement : kPlacements)
      for (const int servers : numbers_of_servers()) {
        TrialConfig config = base();
        config.placement = placement;
        config.placement_options = small_parts();
        config.servers = servers;
        expect_serial(config, model);
      }
}

TEST(EqualsSerial, PsBspWithEveryOptimizer) {
  for (const char* optimizer : {"sgd", "nesterov", "adagrad", "adam"})
    for (const int servers : numbers_of_servers()) {
      TrialConfig config = base();
      config.optimizer = optimizer;
      config.optimizer_options.rate = 0.01F;
      config.servers = servers;
      const bool adaptive = std::string_view(optimizer).starts_with("ad");
      expect_serial(config, "mlp:784-37-19-10", adaptive ? kAdaptiveTolerance : kTolerance);
    }
}

TEST(EqualsSerial, PsBspWithEveryChoiceOfServerRanks) {
  for (const char* ranks : {"last", "spread"})
    for (const int servers : numbers_of_servers()) {
      TrialConfig config = base();
      config.servers = servers;
      config.server_ranks = ranks;
      expect_serial(config, "mlp:784-37-19-10");
    }
}

TEST(EqualsSerial, PsBspWithEveryTransport) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const Dataset dataset = test::small_dataset(model);
  for (const test::Way& way : test::kWays)
    for (const char* placement : kPlacements)
      for (const int servers : numbers_of_servers()) {
        TrialConfig config = base();
        config.placement = placement;
        config.placement_options = small_parts();
        config.servers = servers;
        config.transport = way.transport;
        config.aggregate = way.aggregate;
        const auto outcome = test::run_trial(
            config, model, dataset, [](Step) {}, test::pretend_nodes(way.nodes));
        EXPECT_LE(test::distance(model, outcome.values, serial_of(config, model, dataset)), kTolerance)
            << way.transport << " on " << way.nodes << " nodes, " << placement << ", " << servers;
      }
}

TEST(EqualsSerial, AModelWithTagsInBothModes) {
  TrialConfig config = base();
  config.steps = 6;  // Clips are forty times the work of LeNet's images; the fifth batch is the short one.
  config.optimizer_options.rate = 0.01F;
  for (const char* collective : {"ring", "shared"})
    expect_serial(test::allreduce(config, collective), "video_tagger");
  for (const char* placement : {"striped", "largest_first"})
    for (const int servers : numbers_of_servers()) {
      config.placement = placement;
      config.servers = servers;
      expect_serial(config, "video_tagger");
    }
}

TEST(EqualsSerial, PsAspOfOneWorker) {
  if (test::launch().world.size() < 2)
    return;  // ps has no form on one rank; refused, as the system tests show.
  TrialConfig config = base();
  config.consistency = "asp";
  config.servers = test::launch().world.size() - 1;
  for (const char* transport : {"message", "shared"}) {
    config.transport = transport;
    expect_serial(config, "lenet");
  }
}

}  // namespace
}  // namespace steelyard
