#include <algorithm>
#include <vector>

#include "src/base/aligned.hpp"
#include "src/collective/collective.hpp"

namespace steelyard {
namespace {

/// MPI_SUM of numbers of a narrow wire: each addition is made in single precision, and rounded.
template <Wire wire>
void add_narrow(void* from, void* to, int* count, MPI_Datatype*) {
  constexpr std::size_t kBlock = 512;
  float sums[kBlock];
  const std::span<const std::uint16_t> all_from(static_cast<const std::uint16_t*>(from),
                                                static_cast<std::size_t>(*count));
  const std::span<std::uint16_t> all_to(static_cast<std::uint16_t*>(to), all_from.size());
  for (std::size_t begin = 0; begin < all_from.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, all_from.size() - begin);
    widen(wire, all_to.subspan(begin, size), std::span(sums).first(size));
    add_widened(wire, std::span(sums).first(size), all_from.subspan(begin, size));
    narrow(wire, std::span(sums).first(size), all_to.subspan(begin, size));
  }
}

/// What MPI is told to add, and how.
class Addition {
 public:
  explicit Addition(Wire wire) : type_(wire == Wire::fp32 ? MPI_FLOAT : MPI_UINT16_T) {
    if (wire == Wire::fp16) mpi::check(MPI_Op_create(add_narrow<Wire::fp16>, 1, &made_));
    if (wire == Wire::bf16) mpi::check(MPI_Op_create(add_narrow<Wire::bf16>, 1, &made_));
  }
  Addition(const Addition&) = delete;
  Addition& operator=(const Addition&) = delete;
  ~Addition() {
    if (made_ != MPI_OP_NULL) MPI_Op_free(&made_);
  }

  MPI_Datatype type() const { return type_; }
  MPI_Op operation() const { return made_ == MPI_OP_NULL ? MPI_SUM : made_; }

 private:
  MPI_Datatype type_;
  MPI_Op made_ = MPI_OP_NULL;
};

/// MPI 4 would have persistent collectives; with MPI 3 the library sets up each call anew.
class MpiCollective final : public Collective {
 public:
  MpiCollective(const mpi::Communicator& workers, Wire wire)
      : workers_(workers), wire_(wire), addition_(wire) {}

  int add(std::span<float> data) override {
    Reduction& reduction = reductions_.emplace_back();
    reduction.data = data;
    if (is_narrow()) reduction.narrow = AlignedArray<std::uint16_t>(data.size());
    reduction.requests.assign((data.size() + kPiece - 1) / kPiece, MPI_REQUEST_NULL);
    return static_cast<int>(reductions_.size()) - 1;
  }

  void start(int number) override {
    Reduction& reduction = reductions_[static_cast<std::size_t>(number)];
    // With one rank nothing travels, so nothing is rounded either.
    reduction.is_under_way = workers_.size() > 1;
    if (!reduction.is_under_way) return;
    if (is_narrow()) narrow(wire_, reduction.data, reduction.narrow.span());
    auto* const begin = is_narrow() ? reinterpret_cast<std::byte*>(reduction.narrow.data())
                                    : reinterpret_cast<std::byte*>(reduction.data.data());
    for (std::size_t i = 0; i < reduction.requests.size(); ++i) {  // Counts are int.
      const std::size_t count = std::min(kPiece, reduction.data.size() - i * kPiece);
      mpi::check(MPI_Iallreduce(MPI_IN_PLACE, begin + i * kPiece * wire_bytes(wire_), static_cast<int>(count),
                                addition_.type(), addition_.operation(), workers_.native(),
                                &reduction.requests[i]));
    }
  }

  bool test(int number) override {
    Reduction& reduction = reductions_[static_cast<std::size_t>(number)];
    if (!reduction.is_under_way) return true;
    int done = 0;
    mpi::check(MPI_Testall(static_cast<int>(reduction.requests.size()), reduction.requests.data(), &done,
                           MPI_STATUSES_IGNORE));
    if (done == 0) return false;
    if (is_narrow()) widen(wire_, reduction.narrow.span(), reduction.data);
    reduction.is_under_way = false;
    return true;
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 30U;
  struct Reduction {
    std::span<float> data;
    AlignedArray<std::uint16_t> narrow;  ///< [data] where the wire is narrow.
    std::vector<MPI_Request> requests;
    bool is_under_way = false;
  };
  bool is_narrow() const { return wire_ != Wire::fp32; }

  const mpi::Communicator& workers_;
  Wire wire_;
  Addition addition_;
  std::vector<Reduction> reductions_;
};

}  // namespace

std::unique_ptr<Collective> make_mpi_collective(const mpi::Communicator& workers,
                                                const CollectiveOptions& options) {
  return std::make_unique<MpiCollective>(workers, options.wire);
}

}  // namespace steelyard
