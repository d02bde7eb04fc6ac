#include "modes/ps/staleness/staleness.hpp"

namespace steelyard::ps {
namespace {

// Our own. The use of a gradient is its expected cosine with the mean gradient. A cycle of a worker takes the
// age of its gradient. Where a dropped gradient is made again, it costs another cycle of the usual age and is
// then of the usual use: use / age against usual use / (age + usual age). Where it is not, leaving it out is
// worth nothing, and so is better than harm. Cosines scatter widely, so the benefit of the doubt is with the
// gradient: it is left out where even a mean of two standard errors more would be too little.
constexpr double kDoubt = 2.0;

class CostAware final : public StalenessPolicy {
 public:
  explicit CostAware(bool recompute) : recompute_(recompute) {}

  Use use(const StaleGradient& push, std::span<float>) const override {
    const Worth& worth = push.worth;
    const double instead = recompute_ ? worth.of_usual * push.age_s / (push.age_s + worth.usual_age_s) : 0.0;
    const bool fresh = push.staleness == 0 || !worth.known;
    return {!fresh && worth.of_this + kDoubt * worth.error < instead, 1.0F, push.gradient};
  }
  bool needs_worth() const override { return true; }
  bool drops() const override { return true; }

 private:
  bool recompute_;
};

}  // namespace

std::unique_ptr<StalenessPolicy> make_cost_aware(const StalenessOptions& options) {
  return std::make_unique<CostAware>(options.recompute);
}

}  // namespace steelyard::ps
