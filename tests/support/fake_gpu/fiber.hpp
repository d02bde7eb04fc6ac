#pragma once

/// @file
/// A function that can stop in its midst and go on later, in the same thread.

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace steelyard::fake_gpu {

class Fiber {
 public:
  /// @param body never returns; it pauses when it has nothing to do.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on until it pauses.
  void resume();
  /// Called in the body: back to whoever resumed it.
  void pause();

 private:
  static constexpr std::size_t kStackBytes = std::size_t{64} << 10U;
  static void enter(unsigned high, unsigned low);
  void go_on();
  void go_back();

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t own_{};
  [[maybe_unused]] ucontext_t resumer_{};
  jmp_buf on_{};
  jmp_buf back_{};
  bool started_ = false;
  // What sanitizers have to know of a switch.
  [[maybe_unused]] void* own_shadow_ = nullptr;
  [[maybe_unused]] void* resumer_shadow_ = nullptr;
  [[maybe_unused]] const void* resumer_stack_ = nullptr;
  [[maybe_unused]] std::size_t resumer_stack_bytes_ = 0;
};

}  // namespace steelyard::fake_gpu
