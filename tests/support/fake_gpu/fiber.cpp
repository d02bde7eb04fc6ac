#include "tests/support/fake_gpu/fiber.hpp"

#include <cstdint>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace steelyard::fake_gpu {

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)) {
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_.get();
  own_.uc_stack.ss_size = kStackBytes;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  // makecontext passes arguments of 32 bits.
  makecontext(&own_, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self >> 32U),
              static_cast<unsigned>(self));
#if defined(__SANITIZE_THREAD__)
  own_shadow_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(own_shadow_);
#endif
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void Fiber::go_on() { swapcontext(&resumer_, &own_); }
void Fiber::go_back() { swapcontext(&own_, &resumer_); }

#else

// swapcontext sets the mask of signals, a call of the system: with it, tests of sums take six times as long.
// Sanitizers know no such jump.
void Fiber::go_on() {
  if (_setjmp(back_) != 0) return;
  if (std::exchange(started_, true)) _longjmp(on_, 1);
  setcontext(&own_);
}

void Fiber::go_back() {
  if (_setjmp(on_) == 0) _longjmp(back_, 1);
}

#endif

void Fiber::resume() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&resumer_shadow_, stack_.get(), kStackBytes);
#elif defined(__SANITIZE_THREAD__)
  resumer_shadow_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(own_shadow_, 0);
#endif
  go_on();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(resumer_shadow_, nullptr, nullptr);
#endif
}

void Fiber::pause() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&own_shadow_, resumer_stack_, resumer_stack_bytes_);
#elif defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(resumer_shadow_, 0);
#endif
  go_back();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own_shadow_, &resumer_stack_, &resumer_stack_bytes_);
#endif
}

void Fiber::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fiber*>((std::uintptr_t{high} << 32U) | low);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self->resumer_stack_, &self->resumer_stack_bytes_);
#endif
  self->body_();
}

}  // namespace steelyard::fake_gpu
