#include <algorithm>
#include <vector>

#include "src/collective/collective.hpp"

namespace steelyard {
namespace {

/// MPI 4 would have persistent collectives; with MPI 3 the library sets up each call anew.
class MpiCollective final : public Collective {
 public:
  explicit MpiCollective(const mpi::Communicator& workers) : workers_(workers) {}

  int add(std::span<float> data) override {
    Reduction reduction;
    while (!data.empty()) {  // Counts are int, so larger buffers go in pieces.
      reduction.pieces.push_back(data.first(std::min(data.size(), kPiece)));
      data = data.subspan(reduction.pieces.back().size());
    }
    reduction.requests.assign(reduction.pieces.size(), MPI_REQUEST_NULL);
    reductions_.push_back(std::move(reduction));
    return static_cast<int>(reductions_.size()) - 1;
  }

  void start(int number) override {
    Reduction& reduction = reductions_[static_cast<std::size_t>(number)];
    for (std::size_t i = 0; i < reduction.pieces.size(); ++i)
      mpi::check(MPI_Iallreduce(MPI_IN_PLACE, reduction.pieces[i].data(),
                                static_cast<int>(reduction.pieces[i].size()), MPI_FLOAT, MPI_SUM,
                                workers_.native(), &reduction.requests[i]));
  }

  bool test(int number) override {
    auto& requests = reductions_[static_cast<std::size_t>(number)].requests;
    int done = 0;
    mpi::check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE));
    return done != 0;
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 30U;
  struct Reduction {
    std::vector<std::span<float>> pieces;
    std::vector<MPI_Request> requests;
  };

  const mpi::Communicator& workers_;
  std::vector<Reduction> reductions_;
};

}  // namespace

std::unique_ptr<Collective> make_mpi_collective(const mpi::Communicator& workers) {
  return std::make_unique<MpiCollective>(workers);
}

}  // namespace steelyard
