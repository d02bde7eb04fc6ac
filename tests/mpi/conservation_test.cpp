// What is sent is received, and is what the plan says; every push is applied; a server that owns nothing
// still starts, serves and ends.
#include <gtest/gtest.h>

#include "tests/support/harness.hpp"
#include "tests/support/totals.hpp"

namespace steelyard {
namespace {

TrialConfig base(const char* consistency, const char* placement, int servers) {
  TrialConfig config;
  config.consistency = consistency;
  config.placement = placement;
  config.servers = servers;
  config.bundle_bytes = 1024;
  config.piece_bytes = 16 * 1024;
  config.global_batch = 24;
  config.steps = 30;
  config.evaluate_at_end = false;
  return config;
}

void expect_conserved(const TrialConfig& config, const ModelSpec& model) {
  const auto outcome = test::run_trial(config, model, test::small_dataset(model));
  if (test::launch().world.rank() != 0) return;
  const int workers = test::launch().world.size() - config.servers;
  const StepTraffic traffic = find_mode("ps").value()->traffic(config, model, test::launch().topology);
  const auto times = static_cast<std::uint64_t>(config.steps) * static_cast<std::uint64_t>(workers);
  const test::Totals t = test::totals(outcome.ranks);
  EXPECT_EQ(t.worker_out, times * traffic.worker_bytes_out);
  EXPECT_EQ(t.worker_in, times * traffic.worker_bytes_in);
  EXPECT_EQ(t.server_in, t.worker_out);
  EXPECT_EQ(t.server_out, t.worker_in);
  EXPECT_EQ(t.worker_messages, times * (traffic.worker_messages_out + traffic.worker_messages_in));
  EXPECT_EQ(t.server_messages, t.worker_messages);
  EXPECT_EQ(t.pulls, t.pushes);
  EXPECT_EQ(t.applied + t.dropped, t.pushes);
  EXPECT_EQ(t.staleness, t.applied);
  for (std::size_t server = 0; server < traffic.servers.size(); ++server) {
    std::uint64_t bytes = 0;
    for (const trace::LoadRow& row : outcome.ranks[server].loads) bytes += row.bytes_in;
    EXPECT_EQ(bytes, times * traffic.servers[server].bytes) << "server " << server;
    EXPECT_FALSE(outcome.ranks[server].loads.empty()) << "server " << server << " says what it did";
  }
}

TEST(Conservation, BytesMessagesAndPushesAreWhatThePlanSays) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const int ranks = test::launch().world.size();
  for (const char* transport : {"message", "shared"})
    for (const char* consistency : {"bsp", "asp"})
      for (const char* placement :
           {"round_robin", "largest_first", "range", "p3", "striped", "wrap", "byteps"})
        for (int servers = 1; servers < ranks; ++servers) {
          TrialConfig config = base(consistency, placement, servers);
          config.transport = transport;
          expect_conserved(config, model);
        }
}

TEST(Conservation, SixteenBitPushesCountTwoBytesANumber) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const int ranks = test::launch().world.size();
  for (const char* placement : {"round_robin", "range"})
    for (int servers = 1; servers < ranks; ++servers) {
      TrialConfig config = base("bsp", placement, servers);
      config.transport = "message";
      config.wire = "bf16";
      const StepTraffic traffic = find_mode("ps").value()->traffic(config, model, test::launch().topology);
      EXPECT_EQ(traffic.worker_bytes_out, 2 * total_elements(model.inventory));
      EXPECT_EQ(traffic.worker_bytes_in, 4 * total_elements(model.inventory));
      expect_conserved(config, model);
    }
}

std::uint64_t pushes_to(const test::Outcome& outcome, int server) {
  std::uint64_t pushes = 0;
  for (const trace::LoadRow& row : outcome.ranks[static_cast<std::size_t>(server)].loads)
    pushes += row.pushes;
  return pushes;
}

// Where the workers of a node sum, their node pushes and pulls once, unless the server is there too.
TEST(Conservation, WorkersOfANodePushAsOne) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const Dataset dataset = test::small_dataset(model);
  const mpi::Topology topology = test::pretend_nodes(2);  // Even ranks and odd ones.
  const int ranks = test::launch().world.size();
  for (int servers = 1; servers < ranks; ++servers)
    for (const char* wire : {"fp32", "fp16"}) {
      TrialConfig config = base("bsp", "range", servers);
      config.wire = wire;
      const auto run = [&](const char* aggregate) {
        config.aggregate = aggregate;
        return test::run_trial(
            config, model, dataset, [](Step) {}, topology);
      };
      const test::Outcome together = run("auto");
      const test::Outcome alone = run("none");
      if (test::launch().world.rank() != 0) continue;
      const test::Totals t = test::totals(together.ranks);
      EXPECT_EQ(t.server_in, t.worker_out);
      EXPECT_EQ(t.server_out, t.worker_in);
      EXPECT_EQ(t.server_messages, t.worker_messages);
      EXPECT_EQ(t.applied, t.pushes);
      EXPECT_EQ(t.pulls, t.pushes);
      EXPECT_EQ(t.staleness, t.applied);
      for (int server = 0; server < servers; ++server) {
        std::uint64_t near = 0;
        for (int worker = servers; worker < ranks; ++worker) near += worker % 2 == server % 2 ? 1U : 0U;
        const auto workers = static_cast<std::uint64_t>(ranks - servers);
        const std::uint64_t sources = near + (near < workers ? 1U : 0U);
        EXPECT_EQ(pushes_to(together, server) * workers, pushes_to(alone, server) * sources)
            << "server " << server << " of " << servers;
      }
    }
}

TEST(Conservation, AServerWithNothingStartsServesAndEnds) {
  // Two tensors on up to six servers: most own nothing.
  const ModelSpec model = describe_model("mlp:784-10").value();
  for (const char* transport : {"message", "shared"})
    for (int servers = 1; servers < test::launch().world.size(); ++servers) {
      TrialConfig config = base("bsp", "round_robin", servers);
      config.transport = transport;
      expect_conserved(config, model);
    }
}

TEST(Conservation, AllreduceCountsWhatARingMoves) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  TrialConfig config = test::allreduce(base("bsp", "range", 0));
  const auto outcome = test::run_trial(config, model, test::small_dataset(model));
  if (test::launch().world.rank() != 0) return;
  const int workers = test::launch().world.size();
  const StepTraffic traffic = find_mode("allreduce").value()->traffic(config, model, test::launch().topology);
  const test::Totals t = test::totals(outcome.ranks);
  EXPECT_EQ(t.worker_out, static_cast<std::uint64_t>(config.steps * workers) * traffic.worker_bytes_out);
  EXPECT_EQ(t.worker_in, t.worker_out);
}

// Gradients travel in the wire's type, values in four bytes; two collective calls for every bucket.
TEST(Conservation, AShardedOptimizerCountsBothHalves) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  const auto workers = static_cast<std::size_t>(test::launch().world.size());
  for (const char* collective : {"mpi", "ring", "recursive", "auto"})
    for (const auto& [wire, bytes] : {std::pair{"fp32", 8U}, std::pair{"fp16", 6U}}) {
      TrialConfig config = test::allreduce(base("bsp", "range", 0), collective);
      config.wire = wire;
      config.sharded_optimizer = true;
      config.first_bucket_bytes = config.bucket_bytes = std::size_t{1} << 30U;
      const auto outcome = test::run_trial(config, model, test::small_dataset(model));
      if (test::launch().world.rank() != 0) continue;
      const StepTraffic traffic =
          find_mode("allreduce").value()->traffic(config, model, test::launch().topology);
      const bool in_place = config.collective == "auto" && config.wire == "fp32";
      EXPECT_EQ(traffic.worker_bytes_out, bytes * total_elements(model.inventory) * (workers - 1) / workers);
      EXPECT_EQ(traffic.worker_messages_out, in_place ? 1U : 2U);
      const auto times = static_cast<std::uint64_t>(config.steps) * workers;
      const test::Totals t = test::totals(outcome.ranks);
      EXPECT_EQ(t.worker_out, times * traffic.worker_bytes_out) << collective << " " << wire;
      EXPECT_EQ(t.worker_in, t.worker_out);
      EXPECT_EQ(t.worker_messages, times * traffic.worker_messages_out) << collective << " " << wire;
    }
}

TEST(Conservation, EvaluationSeesEveryTestSampleOnce) {
  const ModelSpec model = describe_model("mlp:784-37-19-10").value();
  TrialConfig config = test::allreduce(base("bsp", "range", 0));
  config.evaluate_every = 10;
  config.evaluate_at_end = true;
  const Dataset dataset = test::small_dataset(model);
  const auto outcome = test::run_trial(config, model, dataset);
  ASSERT_EQ(outcome.evaluations.size(), 3U);
  for (const EvaluationPart& part : outcome.evaluations)
    EXPECT_EQ(mpi::sum(test::launch().world, part.count), static_cast<double>(dataset.test.count));
}

}  // namespace
}  // namespace steelyard
