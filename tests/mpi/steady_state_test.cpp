// In the steady state our code allocates nothing, in either mode, on servers and workers alike.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/support/harness.hpp"
#include "tests/support/reordered.hpp"

namespace {

std::atomic<std::uint64_t> g_allocations{0};

void* counted(std::size_t bytes) {
  ++g_allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++g_allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace steelyard {
namespace {

/// Allocations between the steps `from` and `to` as this rank completes them.
std::uint64_t allocations(const TrialConfig& config, Step from, Step to, int nodes = 1,
                          const ModelSpec& model = describe_model("lenet").value()) {
  const Dataset dataset = test::small_dataset(model, 2000);
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const auto watch = [&](Step completed) {
    if (completed == from) begin = g_allocations;
    if (completed == to) end = g_allocations;
  };
  test::run_trial(config, model, dataset, watch, test::pretend_nodes(nodes));
  return end - begin;
}

TrialConfig base(int servers) {
  TrialConfig config;
  config.servers = servers;
  config.global_batch = 40;  // 50 steps an epoch, so the window holds a short batch and a shuffle.
  config.steps = 70;
  config.bundle_bytes = 4096;
  config.evaluate_at_end = false;
  return config;
}

TEST(SteadyState, ParameterServersAllocateNothing) {
  for (int servers = 1; servers < test::launch().world.size(); ++servers)
    for (const char* transport : {"message", "shared"})
      for (const char* placement : {"largest_first", "range", "striped"}) {
        TrialConfig config = base(servers);
        config.transport = transport;
        config.placement = placement;
        EXPECT_EQ(allocations(config, 20, 60), 0U)
            << servers << " servers, " << placement << ", " << transport;
      }
}

TEST(SteadyState, SixteenBitPushesAllocateNothing) {
  if (test::launch().world.size() < 2) return;  // ps has no form on one rank.
  TrialConfig config = base(1);
  config.transport = "message";
  config.wire = "fp16";
  EXPECT_EQ(allocations(config, 20, 60), 0U);
}

TEST(SteadyState, SumsByNodeAllocateNothing) {
  for (int servers = 1; servers < test::launch().world.size(); ++servers)
    EXPECT_EQ(allocations(base(servers), 20, 60, 2), 0U) << servers << " servers";
}

TEST(SteadyState, OwnAllreduceAllocatesNothing) {
  for (const char* collective : {"ring", "recursive", "shared"})
    for (const char* wire : {"fp32", "bf16"}) {
      TrialConfig config = test::allreduce(base(0), collective);
      config.wire = wire;
      EXPECT_EQ(allocations(config, 20, 60), 0U) << collective << " " << wire;
    }
}

TEST(SteadyState, AShardedOptimizerAllocatesNothing) {
  for (const char* collective : {"ring", "recursive"})
    for (const char* wire : {"fp32", "bf16"}) {
      TrialConfig config = test::allreduce(base(0), collective);
      config.wire = wire;
      config.sharded_optimizer = true;
      config.bucket_bytes = config.first_bucket_bytes = 10'000;
      EXPECT_EQ(allocations(config, 20, 60), 0U) << collective << " " << wire;
    }
}

TEST(SteadyState, RebuiltBucketsAllocateNothing) {
  const ModelSpec model = test::reordered(describe_model("lenet").value());
  for (const char* collective : {"ring", "recursive", "shared"})
    for (const bool sharded : {false, true}) {
      TrialConfig config = test::allreduce(base(0), collective);
      config.sharded_optimizer = sharded;
      config.bucket_bytes = config.first_bucket_bytes = 10'000;
      EXPECT_EQ(allocations(config, 20, 60, 1, model), 0U) << collective << " sharded " << sharded;
    }
}

/// Pages first touched, and allocations.
struct Growth {
  std::uint64_t faults = 0;
  std::uint64_t allocations = 0;
};

Growth now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<std::uint64_t>(usage.ru_minflt), g_allocations};
}

/// MPI itself may touch a few pages of its pools late; the address sanitizer goes on touching its own.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kPagesOfOthers = 1U << 20U;
#else
constexpr std::uint64_t kPagesOfOthers = 8;
#endif

// A thousand steps, of which any growth by even one page per hundred would show.
TEST(SteadyState, AThousandStepsTouchNoNewPage) {
  const ModelSpec model = describe_model("mlp:784-64-10").value();
  const Dataset dataset = test::small_dataset(model, 2000);
  for (const auto& [mode, how] : {std::pair{"ps", "shared"}, std::pair{"ps", "message"},
                                  std::pair{"allreduce", "shared"}, std::pair{"allreduce", "ring"}}) {
    TrialConfig config = base(1);
    config.transport = how;
    if (std::string_view(mode) == "allreduce") config = test::allreduce(base(0), how);
    if (config.servers >= test::launch().world.size()) continue;  // ps has no form on one rank.
    config.steps = 1110;
    Growth begin;
    Growth end;
    test::run_trial(config, model, dataset, [&](Step completed) {
      if (completed == 100) begin = now();
      if (completed == 1100) end = now();
    });
    EXPECT_EQ(end.allocations, begin.allocations) << mode << " " << how;
    EXPECT_LE(end.faults, begin.faults + kPagesOfOthers) << mode << " " << how;
  }
}

// As many as a worker of ps has that waits for each of seven others, and a server that drops them all.
TEST(SteadyState, ReadsAndDropsAllocateNothing) {
  constexpr int kWorkers = 8;
  trace::Recorder recorder;
  recorder.begin_trial(0, 600, kWorkers);
  std::uint64_t begin = 0;
  for (Step step = 0; step < 600; ++step) {
    if (step == 1) begin = g_allocations;
    for (int shard = 0; shard < 20; ++shard) {
      const int worker = shard % kWorkers;
      recorder.add(trace::ReadRow{0, step, shard, 100, worker - 1, 0});
      recorder.add(trace::DropRow{0, step, worker, shard, 3, 100, trace::DropReason::stale});
    }
  }
  EXPECT_EQ(g_allocations - begin, 0U);
  EXPECT_EQ(recorder.read_sums().size(), 600U * kWorkers);
  EXPECT_EQ(recorder.drop_counts().size(), std::size_t{kWorkers});
}

TEST(SteadyState, AllocationsAreSeen) {
  const std::uint64_t before = g_allocations;
  void* one = ::operator new(3);  // A new-expression may be optimised away; a call may not.
  EXPECT_EQ(g_allocations - before, 1U);
  ::operator delete(one);
}

}  // namespace
}  // namespace steelyard
