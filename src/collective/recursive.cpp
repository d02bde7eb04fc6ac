/// @file
/// Allreduce by recursive halving and doubling (Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005): in
/// round i a rank exchanges half of its window with the rank 2^i away and keeps the other half, summed; then
/// the same backwards, without sums. 2 log2(P) rounds instead of the ring's 2 (P - 1), for as many bytes. A
/// small buffer is exchanged whole, in log2(P) rounds.
///
/// Where P is no power of two, of the first 2 (P - 2^k) ranks every even one gives its data to its neighbour
/// first and gets the result last. Everything is summed in one order; two ranks that sum the same add the
/// same two numbers, and a + b is b + a.

#include <bit>

#include "src/collective/pipelined.hpp"

namespace steelyard {
namespace {

/// Elements up to which the number of rounds counts, not the bytes: what MPI sends at once, without asking.
constexpr std::size_t kWholeUpTo = 512;

class Planner {
 public:
  Planner(Schedule& schedule, std::span<float> data, Rank rank, int ranks)
      : schedule_(schedule),
        data_(data),
        rank_(rank),
        rounds_(static_cast<int>(std::bit_width(static_cast<unsigned>(ranks))) - 1),
        folded_(2 * (ranks - (1 << rounds_))) {}

  void plan() {
    if (is_given_away()) {
      schedule_.send(rank_ + 1, data_);
      schedule_.receive(rank_ + 1, data_, false);
      return;
    }
    if (rank_ < folded_) schedule_.receive(rank_ - 1, data_, true);
    if (data_.size() <= kWholeUpTo)
      exchange_whole();
    else
      halve(data_, 0);
    if (rank_ < folded_) schedule_.send(rank_ - 1, data_, true);
  }

 private:
  bool is_given_away() const { return rank_ < folded_ && rank_ % 2 == 0; }
  /// This rank among those that take part in the rounds, and back.
  int place() const { return rank_ < folded_ ? rank_ / 2 : rank_ - folded_ / 2; }
  Rank rank_at(int place) const { return place < folded_ / 2 ? 2 * place + 1 : place + folded_ / 2; }
  Rank peer(int round) const { return rank_at(place() ^ (1 << round)); }

  void exchange_whole() {
    for (int round = 0; round < rounds_; ++round) {
      // Both sides add the same two numbers only if each rounds its own as the other gets it.
      schedule_.send(peer(round), data_, true);
      schedule_.receive(peer(round), data_, true);
    }
    schedule_.round_at_end(data_);
  }

  void halve(std::span<float> window, int round) {
    if (round == rounds_) return;
    const int kept = place() >> round & 1;
    const auto mine = nth_part(window, kept, 2);
    const auto other = nth_part(window, 1 - kept, 2);
    schedule_.send(peer(round), other);
    schedule_.receive(peer(round), mine, true);
    halve(mine, round + 1);
    schedule_.send(peer(round), mine, round + 1 == rounds_);
    schedule_.receive(peer(round), other, false);
  }

  Schedule& schedule_;
  std::span<float> data_;
  Rank rank_;
  int rounds_;  ///< Largest k with 2^k <= P.
  int folded_;  ///< Ranks below it pair up.
};

}  // namespace

void plan_recursive(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  Planner(schedule, data, rank, ranks).plan();
}

std::unique_ptr<Collective> make_recursive_collective(const mpi::Communicator& workers,
                                                      const CollectiveOptions& options) {
  return std::make_unique<PipelinedCollective>(workers, plan_recursive, options.wire);
}

}  // namespace steelyard
