#include "modes/cuda/device_clock.hpp"

namespace steelyard::cuda {

void DeviceClock::keep() {
  constexpr std::int64_t kLifeNs = 1'000'000'000;
  if (anchor_ == nullptr || recorder_.now_ns() - anchor_->time_ns >= kLifeNs) anchor_ = new_anchor();
}

std::shared_ptr<const Anchor> DeviceClock::new_anchor() const {
  constexpr int kTries = 3;
  std::shared_ptr<Anchor> best;
  for (int i = 0; i < kTries; ++i) {
    auto anchor = std::make_shared<Anchor>();
    const std::int64_t begin_ns = recorder_.now_ns();
    idle_.record(anchor->event);
    anchor->event.wait();
    const std::int64_t end_ns = recorder_.now_ns();
    anchor->time_ns = begin_ns + (end_ns - begin_ns) / 2;
    anchor->error_ns = (end_ns - begin_ns + 1) / 2;
    if (best == nullptr || anchor->error_ns < best->error_ns) best = std::move(anchor);
  }
  return best;
}

}  // namespace steelyard::cuda
