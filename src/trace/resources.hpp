#pragma once

/// @file
/// What a trial takes: ranks, nodes and money; and its speed by these.

#include <cstdint>
#include <optional>
#include <span>

namespace steelyard::trace {

/// What a rank costs in an hour, in a currency of the user's.
struct Price {
  double server = 0.0;
  double worker = 1.0;
};

/// Idle ranks take part in nothing and count nowhere.
struct Resources {
  int servers = 0;
  int workers = 0;
  int nodes = 0;                  ///< With a server or a worker; those with both count once. 0: not known.
  std::optional<double> price{};  ///< Of all ranks for an hour.

  int ranks() const { return servers + workers; }
};

/// @param servers world ranks, as `workers`. @param node_of_rank [ranks]; shorter where it is not known.
Resources resources_of(std::span<const int> servers, std::span<const int> workers,
                       std::span<const int> node_of_rank, const std::optional<Price>& price);

/// images/s / nodes; NaN where these are not known.
double images_per_s_per_node(double images_per_s, const Resources& resources);
/// Images for a unit of price: images/s x 3600 / price of an hour; NaN where there is no price.
double images_per_price(double images_per_s, const Resources& resources);

/// How two numbers of workers share the work.
enum class Scaling : std::uint8_t {
  none,    ///< Equal numbers of workers.
  strong,  ///< The same global batch: more workers have less to do each.
  weak,    ///< The same batch per worker: more workers do more together.
  mixed    ///< Neither.
};
Scaling scaling(int workers_a, std::int64_t batch_a, int workers_b, std::int64_t batch_b);

}  // namespace steelyard::trace
