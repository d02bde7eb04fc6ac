#include "modes/ps/consistency/consistency.hpp"

namespace steelyard::ps {
namespace {

// Valiant 1990; with backup workers Chen et al. 2016: the first W - b pushes of a step make its update.
class BulkSynchronous final : public Consistency {
 public:
  explicit BulkSynchronous(int backup_workers) : backup_workers_(backup_workers) {}
  bool admits(Clock clock, const Reached& reached) const override { return clock <= reached.version; }
  int pushes_per_update(int workers) const override { return workers - backup_workers_; }
  bool by_step() const override { return true; }

 private:
  int backup_workers_;
};

}  // namespace

std::unique_ptr<Consistency> make_bsp(const ConsistencyOptions& options) {
  return std::make_unique<BulkSynchronous>(options.backup_workers);
}

}  // namespace steelyard::ps
