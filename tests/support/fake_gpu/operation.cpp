#include "tests/support/fake_gpu/operation.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/fake_gpu/refuse.hpp"
#include "tests/support/fake_gpu/sum.hpp"

namespace steelyard::fake_gpu {
namespace {

struct CallRow {
  const char* name;
  bool between_two;
  bool sums;
};
constexpr std::array<CallRow, 6> kCalls = {{{"ncclAllReduce", false, true},
                                            {"ncclReduceScatter", false, true},
                                            {"ncclAllGather", false, false},
                                            {"ncclBroadcast", false, false},
                                            {"ncclSend", true, false},
                                            {"ncclRecv", true, false}}};

const CallRow& row_of(Call call) { return kCalls[static_cast<std::size_t>(call)]; }

/// The elements of one operation in as many chunks as there are ranks, and their way round the ring.
class Ring {
 public:
  Ring(const Communicator& communicator, const Operation& operation, std::size_t elements)
      : communicator_(communicator),
        signature_{static_cast<int>(operation.call), operation.type, operation.count, operation.root},
        element_bytes_(bytes_of(operation.type)),
        elements_(elements) {}

  std::size_t begin(int chunk) const {
    return elements_ * static_cast<std::size_t>(chunk) / static_cast<std::size_t>(communicator_.ranks()) *
           element_bytes_;
  }
  std::size_t bytes(int chunk) const { return begin(chunk + 1) - begin(chunk); }

  /// After it rank r has the sum of chunk r + shift + 1 - ranks. @return false if it was aborted.
  bool reduce(std::byte* data, int shift) const {
    std::vector<std::byte> received(elements_ * element_bytes_);
    for (int step = 0; step < communicator_.ranks() - 1; ++step) {
      const int chunk = communicator_.neighbour(shift - step - 1);
      if (!exchange(data + begin(communicator_.neighbour(shift - step)),
                    communicator_.neighbour(shift - step), received.data(), chunk))
        return false;
      add(signature_.type, data + begin(chunk), received.data(), bytes(chunk) / element_bytes_);
    }
    return true;
  }

  /// Rank r has chunk r + shift at first, and all in the end.
  void gather(std::byte* data, int shift) const {
    for (int step = 0; step < communicator_.ranks() - 1; ++step) {
      const int sent = communicator_.neighbour(shift - step);
      const int chunk = communicator_.neighbour(shift - step - 1);
      if (!exchange(data + begin(sent), sent, data + begin(chunk), chunk)) return;
    }
  }

  void broadcast(std::byte* data, int root) const {
    const std::size_t all = elements_ * element_bytes_;
    if (communicator_.rank() != root) {
      std::array message = {communicator_.receiving(communicator_.neighbour(-1), data, all, signature_)};
      if (!communicator_.complete(message)) return;
    }
    if (communicator_.neighbour(1) == root) return;
    std::array message = {communicator_.sending(communicator_.neighbour(1), data, all, signature_)};
    communicator_.complete(message);
  }

 private:
  bool exchange(const std::byte* out, int sent, std::byte* in, int received) const {
    std::array messages = {
        communicator_.sending(communicator_.neighbour(1), out, bytes(sent), signature_),
        communicator_.receiving(communicator_.neighbour(-1), in, bytes(received), signature_)};
    return communicator_.complete(messages);
  }

  const Communicator& communicator_;
  Signature signature_;
  std::size_t element_bytes_;
  std::size_t elements_;
};

void copy_unless_in_place(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (to != from && bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace

const char* name_of(Call call) { return row_of(call).name; }
bool is_between_two(Call call) { return row_of(call).between_two; }

std::size_t bytes_of(ncclDataType_t type) {
  constexpr std::array<std::size_t, 10> kBytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  if (type < 0 || static_cast<std::size_t>(type) >= kBytes.size())
    refuse("NCCL's type " + std::to_string(type) + ", which this library does not stand in for");
  return kBytes[static_cast<std::size_t>(type)];
}

std::size_t elements_in(const Operation& operation, const Communicator& communicator) {
  if (operation.call == Call::receive) return 0;
  if (operation.call == Call::broadcast && communicator.rank() != operation.root) return 0;
  const bool all = operation.call == Call::reduce_scatter;
  return operation.count * (all ? static_cast<std::size_t>(communicator.ranks()) : 1);
}

std::size_t elements_out(const Operation& operation, const Communicator& communicator) {
  if (operation.call == Call::send) return 0;
  const bool all = operation.call == Call::all_gather;
  return operation.count * (all ? static_cast<std::size_t>(communicator.ranks()) : 1);
}

void carry_out(const Communicator& communicator, const Operation& operation) {
  const std::size_t element = bytes_of(operation.type);
  const std::size_t in_bytes = elements_in(operation, communicator) * element;
  const Ring ring(communicator, operation,
                  std::max(elements_in(operation, communicator), elements_out(operation, communicator)));
  switch (operation.call) {
    case Call::all_reduce:
      copy_unless_in_place(operation.out, operation.in, in_bytes);
      if (ring.reduce(operation.out, 0)) ring.gather(operation.out, 1);
      return;
    case Call::reduce_scatter: {
      std::vector<std::byte> sums(operation.in, operation.in + in_bytes);
      if (ring.reduce(sums.data(), -1))
        std::memcpy(operation.out, sums.data() + ring.begin(communicator.rank()),
                    ring.bytes(communicator.rank()));
      return;
    }
    case Call::all_gather:
      copy_unless_in_place(operation.out + ring.begin(communicator.rank()), operation.in, in_bytes);
      ring.gather(operation.out, 0);
      return;
    case Call::broadcast:
      copy_unless_in_place(operation.out, operation.in, in_bytes);
      ring.broadcast(operation.out, operation.root);
      return;
    case Call::send:
    case Call::receive:
      carry_out(communicator, std::span(&operation, 1));
  }
}

void carry_out(const Communicator& communicator, std::span<const Operation> operations) {
  std::vector<Message> messages;
  for (const Operation& one : operations) {
    const Signature signature{static_cast<int>(Call::send), one.type, one.count, 0};
    const std::size_t bytes = one.count * bytes_of(one.type);
    messages.push_back(one.call == Call::send ? communicator.sending(one.root, one.in, bytes, signature)
                                              : communicator.receiving(one.root, one.out, bytes, signature));
  }
  communicator.complete(messages);
}

}  // namespace steelyard::fake_gpu
