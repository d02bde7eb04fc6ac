#include "src/cli/semantics.hpp"

#include <fmt/format.h>

#include <vector>

namespace steelyard::cli {

std::string reading_of(const std::string& consistency, int backup_workers, std::int64_t max_lag,
                       const std::string& policy) {
  if (consistency.empty() || consistency == "bsp") return fmt::format("bsp {}", backup_workers);
  return fmt::format("{} {} {}", consistency, consistency == "ssp" ? max_lag : 0, policy);
}

Semantics semantics_of(const TrialConfig& config, int workers, bool replay) {
  Semantics made;
  const bool ps = config.mode == "ps";
  const ps::StalenessOptions& stale = config.staleness_options;
  made.reading = reading_of(ps ? config.consistency : "", ps ? config.consistency_options.backup_workers : 0,
                            config.consistency_options.max_lag,
                            fmt::format("{} {} {} {}", config.staleness_policy, stale.max_staleness,
                                        stale.compensation, stale.recompute));
  if (replay) return made;
  // --lr-scale divides the rate by the number of workers, which is no difference in what was asked for.
  const float nominal = config.rate_by_workers ? config.optimizer_options.rate * static_cast<float>(workers)
                                               : config.optimizer_options.rate;
  made.learning = fmt::format("{} {:.5g}", config.optimizer, nominal);
  if (config.optimizer == "momentum" || config.optimizer == "nesterov")
    made.learning += fmt::format(" {}", config.optimizer_options.momentum);
  made.batch = static_cast<std::int64_t>(config.global_batch);
  return made;
}

std::string unlike_in(const Semantics& a, const Semantics& b) {
  std::vector<const char*> all;
  if (a.reading != b.reading) all.push_back("the age of the values that workers read");
  if (a.batch != b.batch) all.push_back("the global batch");
  if (a.learning != b.learning) all.push_back("the optimizer or its rate");
  return fmt::format("{}", fmt::join(all, " and "));
}

}  // namespace steelyard::cli
