#include <memory>
#include <utility>
#include <vector>

#include "tests/support/fake_gpu/fiber.hpp"
#include "tests/support/fake_gpu/kernel.hpp"

namespace steelyard::fake_gpu {
namespace {

unsigned volume(const dim3& sizes) { return sizes.x * sizes.y * sizes.z; }

uint3 place_in(const dim3& sizes, unsigned index) {
  return {index % sizes.x, index / sizes.x % sizes.y, index / sizes.x / sizes.y};
}

/// A block's threads run one after another in one fiber, until one of them has to wait for the others: that
/// one keeps the fiber, and the next begin in another.
class Block {
 public:
  Block(const dim3& threads, const std::function<void()>& thread) : threads_(threads), thread_(thread) {}

  void run() {
    next_ = 0;
    while (next_ < volume(threads_)) {
      if (idle_.empty()) idle_.push_back(std::make_unique<Fiber>([this] { work(); }));
      current_ = std::move(idle_.back());
      idle_.pop_back();
      resume(threadIdx);
    }
    // A thread that has ended is not waited for.
    while (!meeting_.empty())
      for (auto& [fiber, index] : std::exchange(meeting_, {})) {
        current_ = std::move(fiber);
        resume(index);
      }
  }

  /// Called in a thread: goes on when every other one has come so far or has ended.
  void meet() {
    meets_ = true;
    current_->pause();
  }

 private:
  struct Meeting {
    std::unique_ptr<Fiber> fiber;
    uint3 index;
  };

  void resume(uint3 index) {
    threadIdx = index;
    meets_ = false;
    current_->resume();
    if (meets_)
      meeting_.push_back({std::move(current_), threadIdx});
    else
      idle_.push_back(std::move(current_));
  }

  [[noreturn]] void work() {
    while (true) {
      while (next_ < volume(threads_)) {
        threadIdx = place_in(threads_, next_++);
        thread_();
      }
      meets_ = false;
      current_->pause();
    }
  }

  dim3 threads_;
  const std::function<void()>& thread_;
  unsigned next_ = 0;
  bool meets_ = false;
  std::unique_ptr<Fiber> current_;
  std::vector<std::unique_ptr<Fiber>> idle_;
  std::vector<Meeting> meeting_;
};

thread_local Block* block_of_thread = nullptr;

}  // namespace

void run(const Grid& grid, const std::function<void()>& thread) {
  blockDim = grid.threads;
  gridDim = grid.blocks;
  Block block(grid.threads, thread);
  block_of_thread = &block;
  for (unsigned index = 0; index < volume(grid.blocks); ++index) {
    blockIdx = place_in(grid.blocks, index);
    block.run();
  }
}

}  // namespace steelyard::fake_gpu

void __syncthreads() { steelyard::fake_gpu::block_of_thread->meet(); }
