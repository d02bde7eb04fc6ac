#pragma once

/// @file
/// What an evaluation of a model with tags keeps until all workers' parts can be judged together: an average
/// precision is no sum over parts.

#include <cstdint>
#include <vector>

#include "src/model/model.hpp"
#include "src/mpi/communicator.hpp"

namespace steelyard {

/// Of one worker's part of the test samples; empty for models with labels.
struct TagScores {
  std::vector<float> scores;        ///< [count, classes]
  std::vector<std::uint16_t> tags;  ///< [count]

  void add(const Batch& batch, const BatchResult& result);
};

/// Collective over `workers`: the mean average precision over all parts. Scores and tags travel to the first
/// worker. @return on the first worker; NaN elsewhere.
double mean_average_precision(const mpi::Communicator& workers, const TagScores& part, std::size_t classes);

}  // namespace steelyard
