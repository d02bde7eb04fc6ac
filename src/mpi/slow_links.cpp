#include "src/mpi/slow_links.hpp"

#include <algorithm>

#include "src/base/clock.hpp"

namespace steelyard::mpi {
namespace {

/// Under which a communicator keeps its links; a duplicate of it has them too.
int attribute() {
  static const int kKey = [] {
    int key = MPI_KEYVAL_INVALID;
    check(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr));
    return key;
  }();
  return kKey;
}

}  // namespace

SlowLinks::~SlowLinks() {
  for (const MPI_Comm ranks : attached_) check(MPI_Comm_delete_attr(ranks, attribute()));
}

void SlowLinks::attach(const Communicator& ranks) {
  check(MPI_Comm_set_attr(ranks.native(), attribute(), this));
  attached_.push_back(ranks.native());
}

SlowLinks* SlowLinks::of(const Communicator& ranks) {
  void* links = nullptr;
  int found = 0;
  check(MPI_Comm_get_attr(ranks.native(), attribute(), static_cast<void*>(&links), &found));
  return found != 0 ? static_cast<SlowLinks*>(links) : nullptr;
}

SlowLinks::Link* SlowLinks::link(Rank to) {
  const auto found = std::ranges::find(links_, to, &Link::to);
  return found == links_.end() ? nullptr : &*found;
}

std::int64_t SlowLinks::occupy(Link& link, std::size_t bytes, std::int64_t now_ns) {
  const double needed_ns = link.ns_per_byte * static_cast<double>(bytes);
  const std::int64_t begin_ns = std::max(now_ns, link.busy_until_ns);
  link.busy_until_ns = begin_ns + static_cast<std::int64_t>(needed_ns / link.share);
  return link.busy_until_ns - static_cast<std::int64_t>(needed_ns);
}

void HeldStarts::add_send(std::size_t request, const Communicator& ranks, Rank to, std::size_t bytes) {
  SlowLinks* const links = SlowLinks::of(ranks);
  SlowLinks::Link* const link = links == nullptr ? nullptr : links->link(to);
  if (link == nullptr) return;
  messages_.resize(request + 1);
  messages_[request] = {link, bytes};
  held_.reserve(messages_.size());
}

std::int64_t HeldStarts::now_ns() { return clock_ns(CLOCK_MONOTONIC); }

bool HeldStarts::hold_slow(std::size_t request, std::size_t place) {
  if (request >= messages_.size() || messages_[request].link == nullptr) return false;
  const Message& message = messages_[request];
  held_.push_back({SlowLinks::occupy(*message.link, message.bytes, now_ns()), request, place});
  return true;
}

}  // namespace steelyard::mpi
