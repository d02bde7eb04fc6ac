#include <algorithm>
#include <vector>

#include "src/base/aligned.hpp"
#include "src/collective/collective.hpp"
#include "src/collective/mpi_addition.hpp"

namespace steelyard {
namespace {

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
