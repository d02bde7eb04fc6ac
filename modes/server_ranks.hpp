#pragma once

/// @file
/// `--server-ranks`: which ranks serve (or stay idle in an allreduce of as many workers).

#include <string_view>

#include "modes/trial.hpp"

namespace steelyard {

/// Checks `text`: first, last, spread, or a list of exactly `servers` distinct ranks below `ranks`, as "0,2".
/// @return the list, empty for the three words.
Expected<std::vector<Rank>> parse_server_ranks(std::string_view text, int servers, int ranks);

/// Pure: every rank computes the same answer. `spread` gives each node its share, and within a node spaces
/// the servers evenly. @param text has been checked. @param node_of_rank [ranks]
Roles choose_server_ranks(std::string_view text, int servers, const std::vector<int>& node_of_rank);

}  // namespace steelyard
