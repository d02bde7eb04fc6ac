#pragma once

/// @file
/// A collective as the messages that one rank sends and receives, in the order of the algorithm.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "src/base/types.hpp"

namespace steelyard {

struct SendItem {
  Rank to;
  std::span<float> data;
  std::size_t after_received;  ///< Receives that are dealt with before `data` is what is to be sent.
  bool result;                 ///< The sender keeps what the wire makes of `data`, so that all have the same.
};
struct ReceiveItem {
  Rank from;
  std::span<float> data;
  std::size_t after_sent;  ///< Sends that have left before `data` may change.
  bool add;                ///< Else what arrives replaces `data`.
};

/// Calls come in the order of the algorithm on this rank; what a message has to wait for follows from the
/// places that it shares with earlier ones. Where a place is received twice it is sent in between. Messages
/// between two ranks must be in the same order on both.
class Schedule {
 public:
  /// Elements of a message. Between ranks of one node, where MPI copies within a test and nothing overlaps,
  /// smaller messages only cost more: at 16 MiB on 2 ranks 1.3 times the time with 128 KiB, 1.0 with 4 MiB.
  /// Over a network they keep the queues short, in which a bucket that is needed soon waits behind others.
  static constexpr std::size_t kSegment = std::size_t{1} << 20U;
  static constexpr std::size_t kNetworkSegment = std::size_t{1} << 15U;
  static constexpr std::size_t segment_for(bool network) { return network ? kNetworkSegment : kSegment; }

  /// Large runs go in segments, so that summing one overlaps the receipt of the next. @param segment
  /// elements.
  explicit Schedule(std::size_t segment) : segment_(segment) {}

  /// @param result `data` is no sum of a few ranks yet to be added to, but what all ranks shall end with.
  void send(Rank to, std::span<float> data, bool result = false);
  void receive(Rank from, std::span<float> data, bool add);

  /// `data` becomes in the end what the wire makes of it: a result that this rank does not send as such.
  void round_at_end(std::span<float> data) { rounded_at_end_ = data; }

  std::span<float> rounded_at_end() const { return rounded_at_end_; }
  const std::vector<SendItem>& sends() const { return sends_; }
  const std::vector<ReceiveItem>& receives() const { return receives_; }
  /// Whether anything that arrives is added and does not just replace.
  bool adds() const { return std::ranges::any_of(receives_, &ReceiveItem::add); }
  /// Elements of the largest message.
  std::size_t largest() const { return largest_; }

 private:
  template <typename Add>
  void cut(std::span<float> data, Add&& add);

  std::size_t segment_;
  std::size_t largest_ = 0;
  std::span<float> rounded_at_end_;
  std::vector<SendItem> sends_;
  std::vector<ReceiveItem> receives_;
};

/// The `index`-th (modulo `parts`) of nearly equal parts of `whole`. `index` >= -parts.
std::span<float> nth_part(std::span<float> whole, int index, int parts);

}  // namespace steelyard
