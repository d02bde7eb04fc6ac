#pragma once

/// @file
/// An observer for tests of models.

#include <vector>

#include "src/model/model.hpp"

namespace steelyard::test {

/// Keeps the order in which values are needed and gradients become ready.
class Watcher final : public StepObserver {
 public:
  void values_needed(TensorId id) override { needed.push_back(id); }
  void gradient_ready(TensorId id) override { ready.push_back(id); }
  std::vector<TensorId> needed;
  std::vector<TensorId> ready;
};

}  // namespace steelyard::test
