#include "modes/ps/consistency/consistency.hpp"

namespace steelyard::ps {
namespace {

// Valiant 1990.
class BulkSynchronous final : public Consistency {
 public:
  bool admits(Clock clock, Clock slowest) const override { return clock <= slowest; }
  int pushes_per_update(int workers) const override { return workers; }
};

}  // namespace

std::unique_ptr<Consistency> make_bsp() { return std::make_unique<BulkSynchronous>(); }

}  // namespace steelyard::ps
