#pragma once

/// @file
/// A model whose gradients do not become ready in reverse creation order.

#include "src/model/model.hpp"

namespace steelyard::test {

/// `spec` whose backward passes tell of their gradients at the end, in an order that differs from worker to
/// worker.
ModelSpec reordered(ModelSpec spec);

}  // namespace steelyard::test
