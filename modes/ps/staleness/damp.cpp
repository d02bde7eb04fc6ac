#include <algorithm>

#include "modes/ps/staleness/staleness.hpp"

namespace steelyard::ps {
namespace {

// Zhang, Gupta, Lian, Liu 2016: rate / max(1, staleness).
class Damp final : public StalenessPolicy {
 public:
  Use use(const StaleGradient& push, std::span<float>) const override {
    const auto late = static_cast<float>(std::max<std::int64_t>(1, push.staleness));
    return {false, 1.0F / late, push.gradient};
  }
};

}  // namespace

std::unique_ptr<StalenessPolicy> make_damp(const StalenessOptions&) { return std::make_unique<Damp>(); }

}  // namespace steelyard::ps
