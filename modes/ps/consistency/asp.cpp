#include "modes/ps/consistency/consistency.hpp"

namespace steelyard::ps {
namespace {

class Asynchronous final : public Consistency {
 public:
  bool admits(Clock, const Reached&) const override { return true; }
  int pushes_per_update(int) const override { return 1; }
  bool by_step() const override { return false; }
};

}  // namespace

std::unique_ptr<Consistency> make_asp(const ConsistencyOptions&) { return std::make_unique<Asynchronous>(); }

}  // namespace steelyard::ps
