#include "modes/ps/consistency/consistency.hpp"

namespace steelyard::ps {
namespace {

class Asynchronous final : public Consistency {
 public:
  bool admits(Clock, Clock) const override { return true; }
  int pushes_per_update(int) const override { return 1; }
};

}  // namespace

std::unique_ptr<Consistency> make_asp() { return std::make_unique<Asynchronous>(); }

}  // namespace steelyard::ps
