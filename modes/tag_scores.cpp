#include "modes/tag_scores.hpp"

#include <cstring>
#include <limits>
#include <span>

#include "src/trace/average_precision.hpp"

namespace steelyard {
namespace {

/// Collective: everybody's values behind each other on the first worker, nothing elsewhere.
template <typename T>
std::vector<T> gather_values(const mpi::Communicator& workers, const std::vector<T>& own) {
  std::vector<std::size_t> sizes;
  const auto bytes = mpi::gather(workers, std::as_bytes(std::span(own)), 0, sizes);
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace

void TagScores::add(const Batch& batch, const BatchResult& result) {
  scores.insert(scores.end(), result.scores.begin(), result.scores.end());
  tags.insert(tags.end(), batch.tags.begin(), batch.tags.end());
}

double mean_average_precision(const mpi::Communicator& workers, const TagScores& part, std::size_t classes) {
  const auto scores = gather_values(workers, part.scores);
  const auto tags = gather_values(workers, part.tags);
  if (workers.rank() != 0) return std::numeric_limits<double>::quiet_NaN();
  return trace::mean_average_precision(scores, tags, classes);
}

}  // namespace steelyard
