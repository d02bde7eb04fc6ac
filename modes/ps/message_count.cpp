#include "modes/ps/message_count.hpp"

#include "modes/ps/plan.hpp"

namespace steelyard::ps {
namespace {

/// Bundles of whole tensors, one open for each server.
class Bundles {
 public:
  Bundles(int servers, std::size_t limit)
      : limit_(limit), open_(static_cast<std::size_t>(servers)), count_(open_.size()) {}

  void add(std::size_t server, std::size_t bytes) {
    std::size_t& open = open_[server];
    if (open > 0 && open + bytes > limit_) open = 0;
    if (open == 0) ++count_[server];
    open += bytes;
    if (open >= limit_) open = 0;
  }

  std::vector<std::size_t> count() && { return std::move(count_); }

 private:
  std::size_t limit_;
  std::vector<std::size_t> open_;   ///< [servers] bytes of the bundle that the next whole tensor joins.
  std::vector<std::size_t> count_;  ///< [servers]
};

}  // namespace

std::vector<std::size_t> pushed_messages(const std::vector<Shard>& shards, int servers,
                                         std::size_t bundle_bytes, std::size_t piece_bytes) {
  constexpr std::size_t kMessagesOfPiece = 2;  // Its header and itself.
  Bundles bundles(servers, bundle_bytes);
  std::vector<std::size_t> pieces(static_cast<std::size_t>(servers));
  for (std::size_t end = shards.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && shards[begin - 1].tensor == shards[end - 1].tensor) --begin;
    for (std::size_t i = begin; i < end; ++i) {
      const auto server = static_cast<std::size_t>(shards[i].server);
      const std::size_t count = cut_large({shards[i]}, piece_bytes).size();
      if (end - begin == 1 && count == 1)
        bundles.add(server, shards[i].elements() * sizeof(float));
      else
        pieces[server] += kMessagesOfPiece * count;
    }
    end = begin;
  }
  std::vector<std::size_t> all = std::move(bundles).count();
  for (std::size_t s = 0; s < all.size(); ++s) all[s] += pieces[s];
  return all;
}

}  // namespace steelyard::ps
