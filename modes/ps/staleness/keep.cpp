#include "modes/ps/staleness/staleness.hpp"

namespace steelyard::ps {
namespace {

class Keep final : public StalenessPolicy {
 public:
  Use use(const StaleGradient& push, std::span<float>) const override { return {false, 1.0F, push.gradient}; }
};

}  // namespace

std::unique_ptr<StalenessPolicy> make_keep(const StalenessOptions&) { return std::make_unique<Keep>(); }

}  // namespace steelyard::ps
