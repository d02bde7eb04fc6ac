#include "modes/ps/consistency/consistency.hpp"

namespace steelyard::ps {
namespace {

// Ho et al. 2013: a read at clock c sees every push of clocks up to c - s.
class StaleSynchronous final : public Consistency {
 public:
  explicit StaleSynchronous(Clock max_lag) : max_lag_(max_lag) {}
  bool admits(Clock clock, const Reached& reached) const override {
    return clock - reached.slowest <= max_lag_;
  }
  int pushes_per_update(int) const override { return 1; }
  bool by_step() const override { return false; }

 private:
  Clock max_lag_;
};

}  // namespace

std::unique_ptr<Consistency> make_ssp(const ConsistencyOptions& options) {
  return std::make_unique<StaleSynchronous>(options.max_lag);
}

}  // namespace steelyard::ps
