#include <algorithm>
#include <deque>
#include <vector>

#include "src/base/aligned.hpp"
#include "src/collective/mpi_addition.hpp"
#include "src/collective/schedule.hpp"
#include "src/collective/split.hpp"

namespace steelyard {
namespace {

/// MPI asks every rank to start the collectives of a communicator in one order; the halves have one each, so
/// that they may interleave as they come. The sums cannot arrive in their place: MPI would put every rank's
/// at the beginning of the buffer.
class MpiSplit final : public SplitCollective {
 public:
  MpiSplit(const mpi::Communicator& workers, Wire wire)
      : sums_(workers.duplicate()), copies_(workers.duplicate()), wire_(wire), addition_(wire) {}

  /// Counts and places in a buffer are MPI's, so a buffer has fewer than 2^31 elements.
  OwnSlice add(std::span<float> summands, std::span<float> values) override {
    Pair& pair = pairs_.emplace_back();
    pair.values = values;
    for (Rank rank = 0; rank < sums_.size(); ++rank) {
      const auto part = nth_part(summands, rank, sums_.size());
      pair.counts.push_back(mpi::count(part.size()));
      pair.places.push_back(mpi::count(static_cast<std::size_t>(part.data() - summands.data())));
    }
    pair.summands = summands;
    pair.own = nth_part(summands, sums_.rank(), sums_.size());
    if (is_narrow()) {
      pair.narrow = AlignedArray<std::uint16_t>(summands.size());
      pair.narrow_sum = AlignedArray<std::uint16_t>(pair.own.size());
    } else {
      pair.sum = AlignedArray<float>(pair.own.size());
    }
    const auto begin = static_cast<std::size_t>(pair.own.data() - summands.data());
    return {begin, begin + pair.own.size()};
  }

  void start_reduce_scatter(int number) override {
    Pair& pair = pairs_[static_cast<std::size_t>(number)];
    if (!travels(pair)) return;
    pair.is_summing = true;
    if (is_narrow()) narrow(wire_, pair.summands, pair.narrow.span());
    const void* const from =
        is_narrow() ? static_cast<const void*>(pair.narrow.data()) : pair.summands.data();
    void* const to = is_narrow() ? static_cast<void*>(pair.narrow_sum.data()) : pair.sum.data();
    mpi::check(MPI_Ireduce_scatter(from, to, pair.counts.data(), addition_.type(), addition_.operation(),
                                   sums_.native(), &pair.request));
  }

  void start_allgather(int number) override {
    Pair& pair = pairs_[static_cast<std::size_t>(number)];
    if (!travels(pair)) return;
    mpi::check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, pair.values.data(), pair.counts.data(),
                               pair.places.data(), MPI_FLOAT, copies_.native(), &pair.request));
  }

  bool test(int number) override {
    Pair& pair = pairs_[static_cast<std::size_t>(number)];
    int done = 0;
    mpi::check(MPI_Test(&pair.request, &done, MPI_STATUS_IGNORE));
    if (done == 0) return false;
    if (pair.is_summing && is_narrow())
      widen(wire_, pair.narrow_sum.span(), pair.own);
    else if (pair.is_summing)
      std::ranges::copy(pair.sum.span(), pair.own.begin());
    pair.is_summing = false;
    return true;
  }

 private:
  struct Pair {
    std::span<float> summands;
    std::span<float> values;
    std::span<float> own;                    ///< This rank's slice of the summands.
    std::vector<int> counts;                 ///< [ranks] elements of each rank's slice,
    std::vector<int> places;                 ///< [ranks] and where it begins.
    AlignedArray<float> sum;                 ///< [own], or where the wire is narrow:
    AlignedArray<std::uint16_t> narrow;      ///< [summands]
    AlignedArray<std::uint16_t> narrow_sum;  ///< [own]
    MPI_Request request = MPI_REQUEST_NULL;
    bool is_summing = false;
  };
  bool is_narrow() const { return wire_ != Wire::fp32; }
  /// With one rank nothing travels, so nothing is rounded either.
  bool travels(const Pair& pair) const { return sums_.size() > 1 && !pair.summands.empty(); }

  mpi::Communicator sums_;
  mpi::Communicator copies_;
  Wire wire_;
  Addition addition_;
  std::deque<Pair> pairs_;
};

}  // namespace

std::unique_ptr<SplitCollective> make_mpi_split(const mpi::Communicator& workers,
                                                const CollectiveOptions& options) {
  return std::make_unique<MpiSplit>(workers, options.wire);
}

}  // namespace steelyard
