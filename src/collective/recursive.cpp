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

#include "src/collective/pipelined_split.hpp"

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

  void allreduce() {
    if (data_.size() <= kWholeUpTo) return sum_whole();
    reduce_scatter();
    allgather();
  }

  void reduce_scatter() {
    if (is_given_away()) return schedule_.send(rank_ + 1, data_);
    if (rank_ < folded_) schedule_.receive(rank_ - 1, data_, true);
    for (int round = 0; round < rounds_; ++round) {
      schedule_.send(peer(round), half(round, 1 - kept(round)));
      schedule_.receive(peer(round), half(round, kept(round)), true);
    }
  }

  void allgather() {
    if (is_given_away()) return schedule_.receive(rank_ + 1, data_, false);
    for (int round = rounds_ - 1; round >= 0; --round) {
      schedule_.send(peer(round), half(round, kept(round)), round + 1 == rounds_);
      schedule_.receive(peer(round), half(round, 1 - kept(round)), false);
    }
    if (rank_ < folded_) schedule_.send(rank_ - 1, data_, true);
  }

  /// What this rank holds between the two.
  std::span<float> own() const { return is_given_away() ? data_.first(0) : window(rounds_); }

 private:
  bool is_given_away() const { return rank_ < folded_ && rank_ % 2 == 0; }
  /// This rank among those that take part in the rounds, and back.
  int place() const { return rank_ < folded_ ? rank_ / 2 : rank_ - folded_ / 2; }
  Rank rank_at(int place) const { return place < folded_ / 2 ? 2 * place + 1 : place + folded_ / 2; }
  Rank peer(int round) const { return rank_at(place() ^ (1 << round)); }

  int kept(int round) const { return place() >> round & 1; }
  /// What is left to this rank of the data before `round`, and a half of it.
  std::span<float> window(int round) const {
    return round == 0 ? data_ : nth_part(window(round - 1), kept(round - 1), 2);
  }
  std::span<float> half(int round, int index) const { return nth_part(window(round), index, 2); }

  void sum_whole() {
    if (is_given_away()) {
      schedule_.send(rank_ + 1, data_);
      schedule_.receive(rank_ + 1, data_, false);
      return;
    }
    if (rank_ < folded_) schedule_.receive(rank_ - 1, data_, true);
    for (int round = 0; round < rounds_; ++round) {
      // Both sides add the same two numbers only if each rounds its own as the other gets it.
      schedule_.send(peer(round), data_, true);
      schedule_.receive(peer(round), data_, true);
    }
    schedule_.round_at_end(data_);
    if (rank_ < folded_) schedule_.send(rank_ - 1, data_, true);
  }

  Schedule& schedule_;
  std::span<float> data_;
  Rank rank_;
  int rounds_;  ///< Largest k with 2^k <= P.
  int folded_;  ///< Ranks below it pair up.
};

void scatter_sums(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  Planner(schedule, data, rank, ranks).reduce_scatter();
}

void gather(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  Planner(schedule, data, rank, ranks).allgather();
}

std::span<float> own_part(std::span<float> data, Rank rank, int ranks) {
  Schedule none(1);
  return Planner(none, data, rank, ranks).own();
}

}  // namespace

const SplitPlan kRecursiveSplit{scatter_sums, gather, own_part};

void plan_recursive(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  Planner(schedule, data, rank, ranks).allreduce();
}

std::unique_ptr<Collective> make_recursive_collective(const mpi::Communicator& workers,
                                                      const CollectiveOptions& options) {
  return std::make_unique<PipelinedCollective>(workers, plan_recursive, options.wire);
}

std::unique_ptr<SplitCollective> make_recursive_split(const mpi::Communicator& workers,
                                                      const CollectiveOptions& options) {
  return std::make_unique<PipelinedSplit>(workers, kRecursiveSplit, options.wire);
}

}  // namespace steelyard
