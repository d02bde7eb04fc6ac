#include "src/trace/collection_file.hpp"

#include "src/trace/hdf5.hpp"
#include "src/trace/row_tables.hpp"

namespace steelyard::trace {

TABLE(CollectedRow, "trials", F(run), F(run_id), F(command), F(trial), F(group), F(label), F(mode), F(model),
      F(data), F(ranks), F(servers), F(workers), F(nodes), F(batch), F(steps), F(warmup), F(seed), F(repeat),
      F(order), F(confirmation), F(status), F(images_per_s), F(step_ms), F(step_ms_low), F(step_ms_high),
      F(data_ms), F(forward_ms), F(backward_ms), F(push_ms), F(wait_ms), F(update_ms), F(wait_share),
      F(goodput_gb_per_s), F(compute_max_over_mean), F(bytes_max_over_mean), F(messages_max_over_mean),
      F(busy_max_over_mean), F(staleness_median), F(staleness_p95), F(staleness_max), F(staleness_mean),
      F(age_ms), F(skew_max), F(drop_share), F(load_balance), F(communication_efficiency),
      F(parallel_efficiency), F(worker_load_balance), F(worker_communication_efficiency),
      F(worker_parallel_efficiency), F(server_load_balance), F(server_communication_efficiency),
      F(server_parallel_efficiency), F(loss), F(accuracy), F(target_accuracy), F(time_to_target_s),
      F(images_per_s_per_node), F(price_per_hour), F(images_per_price), F(trace_overhead), F(core_busy),
      F(validity), F(hosts), F(revision), F(start), F(parameter_hash))
TABLE(GroupRow, "groups", F(group), F(name), F(trials), F(diverged), F(servers), F(workers), F(nodes),
      F(images_per_s), F(images_per_s_low), F(images_per_s_high), F(step_ms), F(wait_share),
      F(bytes_max_over_mean), F(busy_max_over_mean), F(staleness_median), F(staleness_max), F(load_balance),
      F(communication_efficiency), F(parallel_efficiency), F(accuracy), F(accuracy_low), F(accuracy_high),
      F(time_to_target_s), F(time_to_target_s_low), F(time_to_target_s_high), F(reached),
      F(images_per_s_per_node), F(price_per_hour), F(images_per_price), F(validity))
TABLE(SettingRow, "settings", F(group), F(name), F(value))
TABLE(RatioRow, "ratios", F(family), F(a), F(b), F(setting), F(basis), F(scaling), F(measure), F(pairs),
      F(ratio), F(low), F(high), F(confidence), F(differs), F(ranked), F(unlike))

Status write_collection(const std::string& path, const CollectionTables& tables) {
  silence();
  Handle file({H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), H5Fclose});
  if (!file.valid()) return Error{"--hdf5 '" + path + "': cannot be created: " + last_reason()};
  write_text(file.id(), "format", "steelyard-collection");
  write_number(file.id(), "version", 1);
  write_table(file.id(), tables.trials);
  write_table(file.id(), tables.groups);
  write_table(file.id(), tables.settings);
  write_table(file.id(), tables.ratios);
  if (!file.reset()) return Error{"--hdf5 '" + path + "': cannot be written: " + last_reason()};
  return success();
}

}  // namespace steelyard::trace
