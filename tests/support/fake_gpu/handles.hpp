#pragma once

/// @file
/// The objects behind the handles that a program holds.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {

/// Safe in any thread. @param T behind `Handle`, a pointer to an opaque type.
template <typename T, typename Handle>
class Handles {
 public:
  explicit Handles(const char* what) : what_(what) {}

  Handle add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    const auto handle = reinterpret_cast<Handle>(object.get());
    objects_[handle] = std::move(object);
    return handle;
  }

  /// One that was never made, or is destroyed, is refused.
  std::shared_ptr<T> get(const char* call, Handle handle) const {
    const std::lock_guard lock(mutex_);
    return find(call, handle)->second;
  }

  std::shared_ptr<T> take(const char* call, Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = find(call, handle);
    const auto object = found->second;
    objects_.erase(found);
    return object;
  }

  std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> objects;
    for (const auto& [handle, object] : objects_) objects.push_back(object);
    return objects;
  }

 private:
  auto find(const char* call, Handle handle) const {
    const auto found = objects_.find(handle);
    if (found == objects_.end())
      refuse(std::string(call) + ": " + text_of(handle) + " is no " + what_ + ", or one that is destroyed");
    return found;
  }

  const char* what_;
  mutable std::mutex mutex_;
  std::map<Handle, std::shared_ptr<T>> objects_;
};

}  // namespace steelyard::fake_gpu
