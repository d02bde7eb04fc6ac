#include "src/mpi/pending_greatest.hpp"

namespace steelyard::mpi {

void PendingGreatest::start(const Communicator& ranks, const Numbers& mine) {
  require(!under_way(), "one agreement at a time");
  numbers_ = mine;
  check(MPI_Iallreduce(MPI_IN_PLACE, numbers_.data(), static_cast<int>(numbers_.size()), MPI_INT64_T, MPI_MAX,
                       ranks.native(), &request_));
}

bool PendingGreatest::test() {
  if (complete_) return true;
  int done = 0;
  check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE));
  complete_ = done != 0;
  return complete_;
}

PendingGreatest::Numbers PendingGreatest::wait(Wait wait) {
  wait_until(polling(wait), [this] { return test(); });
  complete_ = false;
  return numbers_;
}

}  // namespace steelyard::mpi
