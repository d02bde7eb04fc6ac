#include "src/trace/row_tables.hpp"

namespace steelyard::trace {

TABLE(EventRow, "events", F(trial), F(step), F(phase), F(peer), F(shard), F(begin_ns), F(end_ns), F(bytes))
TABLE(StepRow, "steps", F(trial), F(step), F(samples), F(loss), F(begin_ns), F(data_ns), F(forward_ns),
      F(backward_ns), F(push_ns), F(wait_ns), F(update_ns), F(end_ns), F(bytes_out), F(bytes_in), F(messages),
      F(cpu_ns), F(involuntary_switches))
TABLE(LoadRow, "load", F(trial), F(window), F(step), F(begin_ns), F(end_ns), F(busy_ns), F(idle_ns),
      F(apply_ns), F(pushes), F(pulls), F(applied), F(dropped), F(forwarded), F(bytes_in), F(bytes_out),
      F(queue_max), F(cpu_ns), F(involuntary_switches), F(messages))
TABLE(ShardLoadRow, "shard_load", F(trial), F(window), F(shard), F(busy_ns), F(pushes), F(bytes))
TABLE(StalenessRow, "staleness", F(trial), F(window), F(worker), F(shard), F(staleness), F(count), F(age_ns),
      F(skew_max))
TABLE(DropRow, "drops", F(trial), F(step), F(worker), F(shard), F(staleness), F(age_ns), F(reason))
TABLE(ReadRow, "reads", F(trial), F(step), F(shard), F(wait_ns), F(waited_for), F(skew))
TABLE(TrialRow, "trials", F(id), F(mode), F(collective), F(placement), F(consistency), F(max_lag),
      F(staleness_policy), F(servers), F(workers), F(seed), F(repeat), F(order), F(begin), F(end), F(status),
      F(label), F(steps), F(warmup), F(batch), F(confirmation), F(transport), F(wire), F(sharded_optimizer),
      F(aggregate), F(backup_workers), F(on_drop), F(max_staleness), F(slow))
TABLE(RoleRow, "roles", F(trial), F(rank), F(role), F(role_index))
TABLE(TensorRow, "inventory", F(tensor), F(name), F(shape), F(dtype), F(elements), F(bytes))
TABLE(PlacementRow, "placement", F(trial), F(epoch), F(shard), F(tensor), F(begin), F(end), F(server))
TABLE(EvaluationRow, "evaluation", F(trial), F(step), F(time_ns), F(loss), F(accuracy))
TABLE(FinalRow, "final", F(trial), F(parameter_hash), F(images_per_s), F(loss), F(accuracy),
      F(trace_overhead), F(core_busy), F(evaluate_every), F(target_accuracy), F(time_to_target_s),
      F(target_step), F(diverged_step), F(diverged_tensor))
TABLE(SummaryRow, "summary", F(trial), F(metric), F(role), F(value), F(low), F(high), F(unit))

std::string fitted(std::string_view from, std::size_t room) {
  if (from.size() < room) return std::string(from);
  std::size_t kept = room - 1 - kCut.size();
  constexpr unsigned kMask = 0xC0;
  constexpr unsigned kInsideCharacter = 0x80;
  while (kept > 0 && (static_cast<unsigned char>(from[kept]) & kMask) == kInsideCharacter) --kept;
  return std::string(from.substr(0, kept)).append(kCut);
}

bool is_cut(std::string_view kept, std::string_view whole) {
  return kept.size() < whole.size() && kept == fitted(whole, kept.size() + 1);
}

std::span<const Table* const> rank_tables() {
  static const std::array kTables = {&table<EventRow>(),     &table<StepRow>(),      &table<LoadRow>(),
                                     &table<ShardLoadRow>(), &table<StalenessRow>(), &table<DropRow>(),
                                     &table<ReadRow>()};
  return kTables;
}

}  // namespace steelyard::trace
