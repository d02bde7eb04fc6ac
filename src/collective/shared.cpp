/// @file
/// Allreduce through memory that the ranks of a node share; between nodes, a ring of one leader each.
///
/// A buffer goes in chunks, numbered through all its reductions. A rank copies chunk i into place i mod W of
/// its slot ("arrived"). When all have, each sums one slice in rank order, so that the result is the same in
/// every run, for itself and into the results ("summed"); when all have, it takes the other slices from
/// there. So 2 (P - 1) / P chunks cross between cores for each of P ranks. A small buffer is summed whole by
/// every rank, straight into its data: P - 1 chunks cross, but ranks wait for each other once and not twice.
///
/// Nothing is overwritten that somebody still reads, since a rank treats its chunks in order:
/// - A place of a slot. Whole chunks: i + W is copied in only when all have summed i. Slices: it is copied in
///   only after the rank itself took the sums of i, hence after all had summed i.
/// - A place of the results. Sums of i + W are written only when all have arrived at i + W, and each of them
///   took the sums of i before it copied i + W in.
/// - Results that the ring works on. W is then all chunks of a reduction: the leader starts the ring when all
///   have summed the last, nobody takes sums before it has ended ("global"), and the sums of the next
///   reduction wait, as above, for all to have taken those.
/// Nobody waits for ever: the rank that is furthest behind lacks only what the others have already published.

#include "src/collective/shared.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "kernels/elementwise.hpp"
#include "src/collective/shared_board.hpp"

namespace steelyard {

std::unique_ptr<Collective> make_ring_collective(const mpi::Communicator& workers,
                                                 const CollectiveOptions& options);

namespace {

constexpr std::size_t kLine = kPerLine<float>;
/// Elements. The places of all ranks together should stay in the cache that they share; the fewer there are,
/// the oftener ranks wait for each other, which is dear where they also share cores.
constexpr std::size_t kChunk = std::size_t{64} << 10U;
constexpr std::size_t kPlaces = 8;
/// Elements, of all ranks together, up to which every rank sums the whole buffer.
constexpr std::size_t kWholeUpTo = std::size_t{16} << 10U;
/// Elements that stay in the first-level cache between two additions.
constexpr std::size_t kBlock = 2048;
/// Chunks that one test copies or sums at most, so that backward goes on.
constexpr int kStepsPerTest = 8;

/// The reduction of one buffer within a node.
class Reduction {
 public:
  /// Collective over `node`. @param several there are other nodes, too.
  Reduction(const mpi::Communicator& node, std::span<float> data, bool several)
      : data_(data),
        rank_(node.rank()),
        ranks_(node.size()),
        whole_(!several && data.size() * static_cast<std::size_t>(ranks_) <= kWholeUpTo),
        several_(several),
        chunk_(std::clamp(whole_lines<float>(data.size()), kLine, kChunk)),
        chunks_(several || ranks_ > 1 ? (data.size() + chunk_ - 1) / chunk_ : 0),
        // A second place lets a rank start again before the others have summed.
        places_(several ? std::max(chunks_, std::size_t{1}) : std::clamp(chunks_, std::size_t{2}, kPlaces)),
        board_(node, {chunk_, places_, !whole_}) {}

  void start() { end_ += chunks_; }
  bool done() const { return (whole_ ? summed_ : taken_) == end_; }

  /// Copies or sums one chunk, the oldest first. @return whether there was one.
  bool advance() {
    if (!whole_ && taken_ < summed_ && taken_ < ready()) {
      take(taken_);
      ++taken_;
    } else if (summed_ < arrived_ && summed_ < arrived_everywhere()) {
      whole_ ? sum_whole(summed_) : sum_slice(summed_);
      board_.set_summed(rank_, ++summed_);
    } else if (arrived_ < end_ && arrived_ < free_places()) {
      put(arrived_);
      board_.set_arrived(rank_, ++arrived_);
    } else {
      return false;
    }
    return true;
  }

  /// What the leader of a node does for the others: all sums of this node [count], and word that they have
  /// become those of all nodes.
  std::span<float> results() const { return {board_.result(0), data_.size()}; }
  bool summed_by_all() { return summed_everywhere() == end_; }
  void publish_global() { board_.set_global(end_); }

 private:
  struct Slice {
    std::size_t begin;
    std::size_t end;
  };

  std::span<float> chunk(std::uint64_t index) const {
    const std::size_t begin = index % chunks_ * chunk_;
    return data_.subspan(begin, std::min(chunk_, data_.size() - begin));
  }
  /// This rank's of P nearly equal parts, in whole cache lines.
  Slice slice(std::size_t count) const {
    const std::size_t lines = whole_lines<float>(count) / kLine;
    const auto parts = static_cast<std::size_t>(ranks_);
    const auto part = static_cast<std::size_t>(rank_);
    return {std::min(lines * part / parts * kLine, count),
            std::min(lines * (part + 1) / parts * kLine, count)};
  }

  /// The last news of the slowest rank. Asks again only when that is not enough.
  std::uint64_t arrived_everywhere() {
    if (known_arrived_ <= summed_) known_arrived_ = least([this](Rank r) { return board_.arrived(r); });
    return known_arrived_;
  }
  std::uint64_t summed_everywhere() {
    if (known_summed_ < end_) known_summed_ = least([this](Rank r) { return board_.summed(r); });
    return known_summed_;
  }
  template <typename News>
  std::uint64_t least(News&& news) const {
    std::uint64_t least = news(0);
    for (Rank rank = 1; rank < ranks_; ++rank) least = std::min(least, news(rank));
    return least;
  }

  /// Chunks whose sums may be taken, and that may be copied in.
  std::uint64_t ready() { return several_ ? board_.global() : summed_everywhere(); }
  std::uint64_t free_places() { return places_ + (whole_ ? summed_everywhere() : taken_); }

  /// Nobody else reads this rank's own slice.
  void put(std::uint64_t index) const {
    const auto from = chunk(index);
    float* const to = board_.slot(rank_, index);
    const Slice own = whole_ ? Slice{from.size(), from.size()} : slice(from.size());
    std::copy(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(own.begin), to);
    std::copy(from.begin() + static_cast<std::ptrdiff_t>(own.end), from.end(), to + own.end);
  }
  void take(std::uint64_t index) const {
    const auto to = chunk(index);
    const float* const from = board_.result(index);
    const Slice own = several_ ? Slice{to.size(), to.size()} : slice(to.size());
    std::copy(from, from + own.begin, to.begin());
    std::copy(from + own.end, from + to.size(), to.begin() + static_cast<std::ptrdiff_t>(own.end));
  }

  void sum_whole(std::uint64_t index) const {
    const auto target = chunk(index);
    for (std::size_t begin = 0; begin < target.size(); begin += kBlock)
      sum(target.subspan(begin, std::min(kBlock, target.size() - begin)),
          [&](Rank rank) { return board_.slot(rank, index) + begin; });
  }
  void sum_slice(std::uint64_t index) const {
    const auto data = chunk(index);
    const Slice own = slice(data.size());
    for (std::size_t begin = own.begin; begin < own.end; begin += kBlock) {
      const std::span<float> target(board_.result(index) + begin, std::min(kBlock, own.end - begin));
      sum(target,
          [&](Rank rank) { return rank == rank_ ? data.data() + begin : board_.slot(rank, index) + begin; });
      if (!several_) std::ranges::copy(target, data.data() + begin);
    }
  }
  /// @param source gives a rank's summands, [target.size()].
  template <typename Source>
  void sum(std::span<float> target, Source&& source) const {
    const auto summand = [&](Rank rank) { return std::span<const float>(source(rank), target.size()); };
    if (ranks_ == 1)
      std::ranges::copy(summand(0), target.data());
    else
      kernels::add(target, summand(0), summand(1));
    for (Rank rank = 2; rank < ranks_; ++rank) kernels::add(target, summand(rank));
  }

  std::span<float> data_;
  Rank rank_;
  int ranks_;
  bool whole_;
  bool several_;
  std::size_t chunk_;   ///< Elements of a chunk; the last of a buffer may have fewer.
  std::size_t chunks_;  ///< In a reduction; none where nobody else has anything to add.
  std::size_t places_;
  Board board_;
  std::uint64_t end_ = 0;  ///< Number of the chunk behind the last one started; so far below.
  std::uint64_t arrived_ = 0;
  std::uint64_t summed_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t known_arrived_ = 0;
  std::uint64_t known_summed_ = 0;
};

class SharedCollective final : public Collective {
 public:
  SharedCollective(const mpi::Communicator& workers, mpi::Communicator node, const CollectiveOptions& options)
      : node_(std::move(node)),
        several_(mpi::greatest(workers, node_.size() < workers.size() ? 1 : 0) != 0),
        leaders_(workers.split(several_ && node_.rank() == 0 ? 0 : -1)) {
    if (!leaders_.empty()) ring_ = make_ring_collective(leaders_, options);
  }

  int add(std::span<float> data) override {
    Reduction& reduction = reductions_.emplace_back(node_, data, several_);
    ring_started_.push_back(true);
    if (ring_) ring_->add(reduction.results());
    return static_cast<int>(reductions_.size()) - 1;
  }
  void start(int number) override {
    const auto index = static_cast<std::size_t>(number);
    reductions_[index].start();
    ring_started_[index] = false;
    int steps = kStepsPerTest;
    advance(index, steps);
  }
  bool test(int number) override {
    int steps = kStepsPerTest;
    for (std::size_t i = 0; i < reductions_.size() && steps > 0; ++i) advance(i, steps);
    return reductions_[static_cast<std::size_t>(number)].done();
  }

 private:
  void advance(std::size_t index, int& steps) {
    Reduction& reduction = reductions_[index];
    if (reduction.done()) return;
    while (steps > 0 && reduction.advance()) --steps;
    if (ring_) advance_ring(index);
  }

  /// The leaders' messages of different buffers have different tags, so nodes may start them in any order.
  void advance_ring(std::size_t index) {
    Reduction& reduction = reductions_[index];
    const int number = static_cast<int>(index);
    if (!ring_started_[index]) {
      if (!reduction.summed_by_all()) return;
      ring_->start(number);
      ring_started_[index] = true;
    }
    if (ring_->test(number)) reduction.publish_global();
  }

  mpi::Communicator node_;
  bool several_;
  mpi::Communicator leaders_;         ///< Empty on ranks that lead no node, and where there is only one.
  std::deque<Reduction> reductions_;  ///< Before the ring, whose requests point into them.
  std::vector<bool> ring_started_;
  std::unique_ptr<Collective> ring_;
};

}  // namespace

std::unique_ptr<Collective> make_shared_collective_over(const mpi::Communicator& workers,
                                                        mpi::Communicator node,
                                                        const CollectiveOptions& options) {
  return std::make_unique<SharedCollective>(workers, std::move(node), options);
}

std::unique_ptr<Collective> make_shared_collective(const mpi::Communicator& workers,
                                                   const CollectiveOptions& options) {
  return make_shared_collective_over(workers, workers.split_by_node(), options);
}

}  // namespace steelyard
