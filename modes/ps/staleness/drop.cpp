#include "modes/ps/staleness/staleness.hpp"

namespace steelyard::ps {
namespace {

class Drop final : public StalenessPolicy {
 public:
  explicit Drop(std::int64_t most) : most_(most) {}
  Use use(const StaleGradient& push, std::span<float>) const override {
    return {push.staleness > most_, 1.0F, push.gradient};
  }
  bool drops() const override { return true; }

 private:
  std::int64_t most_;
};

}  // namespace

std::unique_ptr<StalenessPolicy> make_drop(const StalenessOptions& options) {
  return std::make_unique<Drop>(options.max_staleness);
}

}  // namespace steelyard::ps
