#include "modes/server_ranks.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace steelyard {
namespace {

std::vector<Rank> spread(int servers, const std::vector<int>& node_of_rank) {
  // Ranks node by node; then every (ranks / servers)-th serves, which gives each node its share.
  std::vector<Rank> by_node(node_of_rank.size());
  std::iota(by_node.begin(), by_node.end(), 0);
  std::ranges::stable_sort(by_node, {},
                           [&](Rank rank) { return node_of_rank[static_cast<std::size_t>(rank)]; });
  std::vector<Rank> chosen;
  for (int i = 0; i < servers; ++i)
    chosen.push_back(
        by_node[by_node.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(servers)]);
  return chosen;
}

}  // namespace

Expected<std::vector<Rank>> parse_server_ranks(std::string_view text, int servers, int ranks) {
  if (text == "first" || text == "last" || text == "spread") return std::vector<Rank>{};
  const Error wrong{"--server-ranks '" + std::string(text) + "': say first, last, spread, or a list of " +
                    std::to_string(servers) + " different ranks from 0 to " + std::to_string(ranks - 1) +
                    " such as 0,2"};
  std::vector<Rank> list;
  const char* next = text.data();
  const char* const end = text.data() + text.size();
  for (;; ++next) {
    Rank rank = -1;
    const auto [rest, code] = std::from_chars(next, end, rank);
    if (code != std::errc() || rank < 0 || rank >= ranks || std::ranges::count(list, rank) > 0) return wrong;
    list.push_back(rank);
    next = rest;
    if (next == end) break;
    if (*next != ',') return wrong;
  }
  if (list.size() != static_cast<std::size_t>(servers)) return wrong;
  return list;
}

Roles choose_server_ranks(std::string_view text, int servers, const std::vector<int>& node_of_rank) {
  const int ranks = static_cast<int>(node_of_rank.size());
  Roles roles;
  roles.servers.resize(static_cast<std::size_t>(servers));
  if (text == "first" || servers == 0)
    std::iota(roles.servers.begin(), roles.servers.end(), 0);
  else if (text == "last")
    std::iota(roles.servers.begin(), roles.servers.end(), ranks - servers);
  else if (text == "spread")
    roles.servers = spread(servers, node_of_rank);
  else
    roles.servers = parse_server_ranks(text, servers, ranks).value();
  std::ranges::sort(roles.servers);
  for (Rank rank = 0; rank < ranks; ++rank)
    if (Roles::index_in(roles.servers, rank) == Roles::kNone) roles.workers.push_back(rank);
  return roles;
}

}  // namespace steelyard
