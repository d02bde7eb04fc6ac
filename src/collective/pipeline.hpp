#pragma once

/// @file
/// Carries a schedule out, as often as asked, without blocking.

#include "src/base/aligned.hpp"
#include "src/collective/schedule.hpp"
#include "src/collective/wire.hpp"
#include "src/mpi/request_window.hpp"

namespace steelyard {

/// Sends start, and receives are posted and dealt with, in the schedule's order, a few of each at a time. So
/// sums have one order in every run, whatever the order of arrival. What is to be added arrives in scratch
/// that is used again soon; with a narrow wire, everything that travels passes through scratch.
///
/// Nobody waits for ever: among all ranks' first unfinished items, one that stands earliest in the order of
/// the algorithm depends on nothing unfinished, and both its sides have it in their windows.
class Pipeline {
 public:
  /// @param ranks must outlive it. @param tag tells the pipelines over `ranks` apart.
  Pipeline(const mpi::Communicator& ranks, Schedule schedule, Wire wire, int tag);

  void start();
  /// Never blocks. @return whether all is done.
  bool test();
  bool done() const { return sent_ == sends().size() && received_ == receives().size(); }

 private:
  static constexpr std::size_t kMost = 16;  ///< Messages under way in each direction.

  const std::vector<SendItem>& sends() const { return schedule_.sends(); }
  const std::vector<ReceiveItem>& receives() const { return schedule_.receives(); }
  bool is_narrow() const { return wire_ != Wire::fp32; }

  /// Scratch of a message: where it arrives if it is to be added or widened, and where it is narrowed.
  template <typename T>
  std::span<T> scratch(AlignedArray<T>& window, std::size_t item, std::size_t elements) const {
    return window.span().subspan(item % window_ * (window.size() / window_), elements);
  }
  std::span<std::byte> arrival(std::size_t receive);
  std::span<const std::byte> departure(std::size_t send);

  void mark(int place);
  void advance();
  void start_what_may();
  bool may_be_dealt_with() const;
  void deal_with(std::size_t receive);
  void narrow_for(std::size_t send);
  void round_at_end();

  Schedule schedule_;
  Wire wire_;
  std::size_t window_;                      ///< As many of them as suit their size.
  AlignedArray<float> wide_in_;             ///< [window, largest message] of fp32.
  AlignedArray<std::uint16_t> narrow_in_;   ///< The same of a narrow wire;
  AlignedArray<std::uint16_t> narrow_out_;  ///< and what leaves.
  mpi::RequestWindow requests_;             ///< Receives come first, in numbers and in places.
  bool arrived_[kMost] = {};
  bool left_[kMost] = {};
  std::size_t posted_ = 0;    ///< Receives posted in this run;
  std::size_t received_ = 0;  ///< of these, dealt with.
  std::size_t started_ = 0;   ///< Sends started in this run;
  std::size_t sent_ = 0;      ///< of these, done.
};

}  // namespace steelyard
