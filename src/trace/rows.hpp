#pragma once

/// @file
/// The rows of the trace, as they lie in memory and (packed) in the files. docs/trace_format.md explains
/// them. Times are ns since the rank's epoch; bytes are payload, 4 per element, without message headers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace steelyard::trace {

/// What a rank was doing. Names and order as in the file's enum.
enum class Phase : std::uint8_t {
  data,
  forward,
  backward,
  push,
  wait,
  update,
  serve,
  apply,
  reply,
  allreduce,
  migrate,
  checkpoint,
  evaluate
};
inline constexpr std::array<std::string_view, 13> kPhaseNames = {
    "data",  "forward", "backward",  "push",    "wait",       "update",  "serve",
    "apply", "reply",   "allreduce", "migrate", "checkpoint", "evaluate"};

/// Why a server dropped a push. Names and order as in the file's enum.
enum class DropReason : std::uint8_t {
  stale,   ///< Its gradient was staler than the policy keeps.
  late,    ///< Its step had been completed without it, by backup workers.
  stopped  ///< The trial was ending.
};
inline constexpr std::array<std::string_view, 3> kDropReasonNames = {"stale", "late", "stopped"};

/// A row field of characters, zero padded.
template <std::size_t N>
using Text = std::array<char, N>;

/// What a text that had no room ends with.
inline constexpr std::string_view kCut = "...";
/// @return `from` where that has less than `room` bytes, else its first whole characters (UTF-8) and kCut.
std::string fitted(std::string_view from, std::size_t room);
/// Whether `kept` is what fitted() left of `whole`.
bool is_cut(std::string_view kept, std::string_view whole);

template <std::size_t N>
Text<N> text(std::string_view from) {
  static_assert(N > kCut.size());
  Text<N> to{};
  fitted(from, N).copy(to.data(), N - 1);
  return to;
}
template <std::size_t N>
std::string_view view(const Text<N>& from) {
  const std::string_view whole(from.data(), N);
  return whole.substr(0, whole.find('\0'));
}

struct EventRow {
  std::uint16_t trial;
  std::int64_t step;
  Phase phase;
  std::int32_t peer;   ///< World rank of the other side, -1 where none.
  std::int32_t shard;  ///< First shard of the bundle, -1 where none.
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::uint64_t bytes;
};

/// One step of one worker. Durations are exclusive: what is spent in a push is not in backward.
struct StepRow {
  std::uint16_t trial;
  std::int64_t step;
  std::uint32_t samples;  ///< This worker's own.
  float loss;             ///< Mean over them; 0 where there are none.
  std::int64_t begin_ns, data_ns, forward_ns, backward_ns, push_ns, wait_ns, update_ns, end_ns;
  std::uint64_t bytes_out, bytes_in;
  std::uint32_t messages;  ///< Sent and received.
  std::int64_t cpu_ns;     ///< Thread CPU time.
  std::uint32_t involuntary_switches;
};

/// One window of one server.
struct LoadRow {
  std::uint16_t trial;
  std::uint32_t window;
  std::int64_t step;  ///< At the end of the window: pushes so far / (workers x bundles), rounded down.
  std::int64_t begin_ns, end_ns;
  std::int64_t busy_ns;   ///< Thread CPU time and injected delay while a request is handled.
  std::int64_t idle_ns;   ///< Wall time without a request to handle.
  std::int64_t apply_ns;  ///< Wall time of sums and optimizer.
  std::uint64_t pushes, pulls, applied, dropped, forwarded;
  std::uint64_t bytes_in, bytes_out;
  std::uint32_t queue_max;  ///< Most pushes that waited at once.
  std::int64_t cpu_ns;
  std::uint32_t involuntary_switches;
  std::uint64_t messages;  ///< Received and sent, headers of their own included.
};

struct ShardLoadRow {
  std::uint16_t trial;
  std::uint32_t window;
  std::int32_t shard;
  std::int64_t busy_ns;  ///< Of its bundle's, in proportion to its elements.
  std::uint64_t pushes;
  std::uint64_t bytes;
};

struct StalenessRow {
  std::uint16_t trial;
  std::uint32_t window;
  std::int32_t worker;
  std::int32_t shard;  ///< First shard of the bundle.
  std::int32_t staleness;
  std::uint64_t count;
  std::int64_t age_ns;  ///< Sum.
  std::int32_t skew_max;
};

/// One dropped push, on the server that dropped it.
struct DropRow {
  std::uint16_t trial;
  std::int64_t step;    ///< Of the worker.
  std::int32_t worker;  ///< Index.
  std::int32_t shard;   ///< First shard of the bundle.
  std::int32_t staleness;
  std::int64_t age_ns;  ///< From read to drop.
  DropReason reason;
};

/// One read of one bundle, on the worker that waited for it.
struct ReadRow {
  std::uint16_t trial;
  std::int64_t step;
  std::int32_t shard;  ///< First shard of the bundle.
  std::int64_t wait_ns;
  std::int32_t waited_for;  ///< Index of the worker whose push let the read be answered, -1 no other's.
  std::int32_t skew;        ///< Spread of the versions of all bundles read for this step, so far as known.
};

struct TrialRow {
  std::uint16_t id;
  Text<16> mode;
  Text<32> collective;
  Text<64> placement;
  Text<16> consistency;
  std::int64_t max_lag;
  Text<16> staleness_policy;
  std::int32_t servers, workers;
  std::uint64_t seed;
  std::int32_t repeat;      ///< Round, from 0.
  std::int32_t order;       ///< Position within the round.
  std::int64_t begin, end;  ///< ns on rank 0's clock.
  Text<16> status;          ///< planned, done, diverged, stopped.
  Text<64> label;
  std::int64_t steps, warmup, batch;
  std::uint8_t confirmation;       ///< 1 in the fresh rounds that confirm a winner.
  Text<16> transport;              ///< ps: shared, message, mixed; allreduce: in_place or "".
  Text<8> wire;                    ///< Type in which gradients travel: fp32, fp16, bf16.
  std::uint8_t sharded_optimizer;  ///< allreduce: 1 if asked for; 0 in ps.
  Text<8> aggregate;               ///< ps: node where workers of some node pushed as one, else none.
  std::int32_t backup_workers;     ///< bsp: pushes of a step that an update does not wait for.
  Text<16> on_drop;                ///< skip, recompute; "" where nothing is dropped for its staleness.
  std::int64_t max_staleness;      ///< drop: the greatest that is kept.
  Text<256> slow;                  ///< What was injected, as --slow says it; "" for nothing.
};

/// Which rank plays what in a trial.
struct RoleRow {
  std::uint16_t trial;
  std::int32_t rank;
  Text<8> role;  ///< server, worker, idle.
  std::int32_t role_index;
};

struct TensorRow {
  std::int32_t tensor;
  Text<96> name;
  Text<64> shape;  ///< As "16,6,5,5".
  Text<8> dtype;
  std::uint64_t elements, bytes;
};

struct PlacementRow {
  std::uint16_t trial;
  std::int32_t epoch;
  std::int32_t shard;
  std::int32_t tensor;
  std::uint64_t begin, end;
  std::int32_t server;
};

struct EvaluationRow {
  std::uint16_t trial;
  std::int64_t step;
  std::int64_t time_ns;  ///< On the clock of the first worker.
  double loss;
  double accuracy;
};

struct FinalRow {
  std::uint16_t trial;
  std::uint64_t parameter_hash;
  double images_per_s;
  double loss;
  double accuracy;  ///< NaN where not evaluated.
  double trace_overhead;
  double core_busy;             ///< Busy share of all cores of the busiest machine during the trial, 0 to 1.
  std::int64_t evaluate_every;  ///< Steps between evaluations; 0: none but at the end.
  double target_accuracy;       ///< 0: none was asked for.
  double time_to_target_s;      ///< NaN: none, or not reached.
  std::int64_t target_step;     ///< -1 likewise.
  std::int64_t diverged_step;   ///< Holds if diverged_tensor is not "".
  Text<96> diverged_tensor;     ///< Name of the tensor, or "the loss"; "" if the trial did not diverge.
};

struct SummaryRow {
  std::uint16_t trial;
  Text<48> metric;
  Text<16> role;
  double value, low, high;
  Text<16> unit;
};

enum class Kind : std::uint8_t { u8, u16, u32, u64, i32, i64, f32, f64, phase, drop_reason, text };

struct Field {
  const char* name;
  std::size_t offset;
  std::size_t size;
  Kind kind;
};

template <typename T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return Kind::u8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return Kind::u16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return Kind::u32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return Kind::u64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Kind::i32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Kind::i64;
  else if constexpr (std::is_same_v<T, float>)
    return Kind::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::f64;
  else if constexpr (std::is_same_v<T, Phase>)
    return Kind::phase;
  else if constexpr (std::is_same_v<T, DropReason>)
    return Kind::drop_reason;
  else
    return Kind::text;
}

/// A dataset: its name and the fields of a row, in file order.
struct Table {
  const char* name;
  std::size_t row_bytes;
  std::span<const Field> fields;
};

/// @return the table that rows of this type belong to.
template <typename Row>
const Table& table();

/// The tables of a rank file, in file order.
std::span<const Table* const> rank_tables();

}  // namespace steelyard::trace
