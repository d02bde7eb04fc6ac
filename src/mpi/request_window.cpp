#include "src/mpi/request_window.hpp"

namespace steelyard::mpi {

RequestWindow::RequestWindow(std::size_t places) : under_way_(places, MPI_REQUEST_NULL), completed_(places) {}

RequestWindow::~RequestWindow() {
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

std::size_t RequestWindow::add_send(const Communicator& ranks, std::span<const std::byte> bytes, Rank to,
                                    int tag) {
  held_.add_send(requests_.size(), ranks, to, bytes.size());
  check(MPI_Send_init(bytes.data(), count(bytes.size()), MPI_BYTE, to, tag, ranks.native(),
                      &requests_.emplace_back(MPI_REQUEST_NULL)));
  return requests_.size() - 1;
}

std::size_t RequestWindow::add_receive(const Communicator& ranks, std::span<std::byte> bytes, Rank from,
                                       int tag) {
  check(MPI_Recv_init(bytes.data(), count(bytes.size()), MPI_BYTE, from, tag, ranks.native(),
                      &requests_.emplace_back(MPI_REQUEST_NULL)));
  return requests_.size() - 1;
}

void RequestWindow::start(std::size_t request, std::size_t place) {
  if (!held_.hold(request, place)) start_now(request, place);
}

void RequestWindow::start_now(std::size_t request, std::size_t place) {
  under_way_[place] = requests_[request];
  check(MPI_Start(&under_way_[place]));
}

std::span<const int> RequestWindow::test_some() {
  held_.start_due([this](std::size_t request, std::size_t place) { start_now(request, place); });
  int count = 0;
  check(MPI_Testsome(static_cast<int>(under_way_.size()), under_way_.data(), &count, completed_.data(),
                     MPI_STATUSES_IGNORE));
  if (count == MPI_UNDEFINED) return {};
  return std::span(completed_).first(static_cast<std::size_t>(count));
}

}  // namespace steelyard::mpi
