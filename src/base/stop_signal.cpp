#include "src/base/stop_signal.hpp"

#include <signal.h>

#include <atomic>

namespace steelyard {
namespace {

std::atomic<bool> g_signalled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a handler may not wait for a lock");

void note(int) { g_signalled.store(true, std::memory_order_relaxed); }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR2, &action, nullptr);
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);  // The macros are of unlike signs.
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_signalled() { return g_signalled.load(std::memory_order_relaxed); }

}  // namespace steelyard
