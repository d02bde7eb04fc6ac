#include "tests/support/fake_gpu/stream.hpp"

#include <string>
#include <thread>
#include <utility>

#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/faults.hpp"

namespace steelyard::fake_gpu {

WorkQueue::WorkQueue() : state_(std::make_shared<State>()) {
  std::thread([state = state_] { run(*state); }).detach();
}

WorkQueue::~WorkQueue() {
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->changed.notify_all();
}

void WorkQueue::push(std::function<void()> work) {
  const std::lock_guard lock(state_->mutex);
  state_->waiting.push_back(std::move(work));
  state_->changed.notify_all();
}

bool WorkQueue::idle() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting.empty() && !state_->busy;
}

void WorkQueue::finish() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->waiting.empty() && !state_->busy; });
}

void WorkQueue::run(State& state) {
  std::unique_lock lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&] { return state.closed || !state.waiting.empty(); });
    if (state.waiting.empty()) return;
    auto work = std::exchange(state.waiting.front(), nullptr);
    state.waiting.pop_front();
    state.busy = true;
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    state.busy = false;
    state.changed.notify_all();
  }
}

void Stream::push(std::function<void()> work) {
  queue_.push([work = std::move(work)] {
    std::this_thread::sleep_for(delay());
    if (!device_lost()) work();
  });
}

void Mark::reach() {
  const std::lock_guard lock(mutex_);
  reached_ = true;
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

bool Mark::reached() const {
  const std::lock_guard lock(mutex_);
  return reached_;
}

Mark::Time Mark::wait() const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_; });
  return time_;
}

std::shared_ptr<Mark> Event::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::shared_ptr<Mark> Event::renew() {
  const std::lock_guard lock(mutex_);
  return last_ = std::make_shared<Mark>();
}

}  // namespace steelyard::fake_gpu
