/// @file
/// Bandwidth-optimal ring allreduce (Patarasuk and Yuan 2009): 2 (P - 1) messages per rank, each of about 1/P
/// of the buffer. Reduce-scatter hop i of rank j sends chunk j - i and receives j - i - 1; allgather hop i
/// sends chunk j + 1 - i and receives j - i. A fixed rank order makes the sums the same in every run.

#include <deque>

#include "kernels/elementwise.hpp"
#include "src/base/aligned.hpp"
#include "src/collective/collective.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard {
namespace {

/// The reduction of one buffer: every hop has its own persistent requests and its own scratch, so that all
/// receives of the reduce-scatter are posted before the first message can arrive.
class Reduction {
 public:
  Reduction(const mpi::Communicator& workers, std::span<float> data, int number)
      : data_(data), rank_(workers.rank()), ranks_(workers.size()), scratch_(data.size()) {
    const Rank right = (rank_ + 1) % ranks_;
    const Rank left = (rank_ + ranks_ - 1) % ranks_;
    // Messages of different hops may complete in any order, so each has its own tag.
    const auto tag = [&](int hop, int phase) { return (number * ranks_ + hop) * 2 + phase; };
    // Request 4 h + k: k = 0 and 1 send and receive in hop h of the reduce-scatter, 2 and 3 of the allgather.
    for (int hop = 0; hop < last(); ++hop) {
      requests_.add_send(workers, std::as_bytes(chunk(rank_ - hop)), right, tag(hop, 0));
      requests_.add_receive(workers, std::as_writable_bytes(scratch(rank_ - hop - 1)), left, tag(hop, 0));
      requests_.add_send(workers, std::as_bytes(chunk(rank_ + 1 - hop)), right, tag(hop, 1));
      requests_.add_receive(workers, std::as_writable_bytes(chunk(rank_ - hop)), left, tag(hop, 1));
    }
    done_.resize(requests_.size());
  }

  void start() {
    done_.assign(done_.size(), false);
    remaining_ = done_.size();
    summed_ = 0;
    passed_on_ = 0;
    for (int hop = 0; hop < last(); ++hop) requests_.start(4 * hop + kReceivePart);
    if (last() > 0) requests_.start(kSendPart);
  }

  bool test() {
    if (remaining_ == 0) return true;
    for (const int request : requests_.test_some()) complete(request);
    return remaining_ == 0;
  }

 private:
  enum Kind { kSendPart, kReceivePart, kSendSum, kReceiveSum };

  int last() const { return ranks_ - 1; }

  void complete(int request) {
    done_[static_cast<std::size_t>(request)] = true;
    --remaining_;
    const int hop = request / 4;
    // The sum for this chunk arrives over the place that has just been sent from, so not before.
    if (request % 4 == kSendPart) requests_.start(4 * hop + kReceiveSum);
    // Messages of one hop may complete before those of an earlier one are looked at; sums keep their order.
    while (summed_ < last() && done_[static_cast<std::size_t>(4 * summed_ + kReceivePart)])
      add_part(summed_++);
    while (passed_on_ < last() - 1 && done_[static_cast<std::size_t>(4 * passed_on_ + kReceiveSum)])
      requests_.start(4 * ++passed_on_ + kSendSum);
  }

  void add_part(int hop) {
    kernels::add(chunk(rank_ - hop - 1), scratch(rank_ - hop - 1));
    requests_.start(hop + 1 < last() ? 4 * (hop + 1) + kSendPart : kSendSum);
  }

  /// The `index`-th (modulo P) of P nearly equal parts.
  std::span<float> cut(std::span<float> whole, int index) const {
    const auto parts = static_cast<std::size_t>(ranks_);
    const auto i = static_cast<std::size_t>(index + 2 * ranks_) % parts;
    const std::size_t begin = whole.size() * i / parts;
    return whole.subspan(begin, whole.size() * (i + 1) / parts - begin);
  }
  std::span<float> chunk(int index) { return cut(data_, index); }
  std::span<float> scratch(int index) { return cut(scratch_.span(), index); }

  std::span<float> data_;
  Rank rank_;
  int ranks_;
  AlignedArray<float> scratch_;
  mpi::Requests requests_;
  std::vector<bool> done_;
  std::size_t remaining_ = 0;
  int summed_ = 0;     ///< Hops whose part has been added.
  int passed_on_ = 0;  ///< Allgather hops whose chunk has been received and sent on.
};

class RingCollective final : public Collective {
 public:
  explicit RingCollective(const mpi::Communicator& workers) : workers_(workers) {}

  int add(std::span<float> data) override {
    const int number = static_cast<int>(reductions_.size());
    reductions_.emplace_back(workers_, data, number);
    return number;
  }
  void start(int number) override { reductions_[static_cast<std::size_t>(number)].start(); }
  bool test(int number) override {
    bool done = true;
    for (std::size_t i = 0; i < reductions_.size(); ++i) {
      const bool one = reductions_[i].test();
      if (i == static_cast<std::size_t>(number)) done = one;
    }
    return done;
  }

 private:
  const mpi::Communicator& workers_;
  std::deque<Reduction> reductions_;
};

}  // namespace

std::unique_ptr<Collective> make_ring_collective(const mpi::Communicator& workers) {
  return std::make_unique<RingCollective>(workers);
}

}  // namespace steelyard
