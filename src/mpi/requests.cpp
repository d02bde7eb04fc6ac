#include "src/mpi/requests.hpp"

namespace steelyard::mpi {

Requests::~Requests() {
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

int Requests::add_send(const Communicator& ranks, std::span<const std::byte> bytes, Rank to, int tag) {
  completed_.emplace_back();
  held_.add_send(requests_.size(), ranks, to, bytes.size());
  check(MPI_Send_init(bytes.data(), count(bytes.size()), MPI_BYTE, to, tag, ranks.native(),
                      &requests_.emplace_back(MPI_REQUEST_NULL)));
  return static_cast<int>(requests_.size()) - 1;
}

int Requests::add_receive(const Communicator& ranks, std::span<std::byte> bytes, Rank from, int tag) {
  completed_.emplace_back();
  check(MPI_Recv_init(bytes.data(), count(bytes.size()), MPI_BYTE, from, tag, ranks.native(),
                      &requests_.emplace_back(MPI_REQUEST_NULL)));
  return static_cast<int>(requests_.size()) - 1;
}

std::span<const int> Requests::completed(int count) const {
  if (count == MPI_UNDEFINED) return {};
  return std::span(completed_).first(static_cast<std::size_t>(count));
}

std::span<const int> Requests::test_some() {
  held_.start_due([this](std::size_t request, std::size_t) { check(MPI_Start(&requests_[request])); });
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                     MPI_STATUSES_IGNORE));
  return completed(count);
}

std::span<const int> Requests::wait_some(Wait wait) {
  if (held_.possible()) wait = polling(wait);  // What is held starts in a test.
  if (wait != Wait::block) {
    std::span<const int> done;
    wait_until(wait, [&] { return !(done = test_some()).empty(); });
    return done;
  }
  int count = 0;
  check(MPI_Waitsome(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(),
                     MPI_STATUSES_IGNORE));
  return completed(count);
}

}  // namespace steelyard::mpi
