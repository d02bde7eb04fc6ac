#include "src/collective/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "kernels/elementwise.hpp"

namespace steelyard {
namespace {

/// Tests in a row, as long as each has something to report: then backward goes on.
constexpr int kTests = 8;

}  // namespace

Pipeline::Pipeline(const mpi::Communicator& ranks, Schedule schedule, int tag)
    : schedule_(std::move(schedule)),
      scratch_(std::min(kWindow, receives().size()) * schedule_.largest()),
      requests_(2 * kWindow) {
  for (std::size_t i = 0; i < receives().size(); ++i) {
    const ReceiveItem& item = receives()[i];
    requests_.add_receive(ranks, std::as_writable_bytes(item.add ? scratch(i) : item.data), item.from, tag);
  }
  for (const SendItem& item : sends()) requests_.add_send(ranks, std::as_bytes(item.data), item.to, tag);
  received_ = receives().size();
  sent_ = sends().size();
}

std::span<float> Pipeline::scratch(std::size_t receive) {
  return scratch_.span().subspan(receive % kWindow * schedule_.largest(), receives()[receive].data.size());
}

void Pipeline::start() {
  posted_ = received_ = started_ = sent_ = 0;
  start_what_may();
}

bool Pipeline::test() {
  for (int tests = 0; tests < kTests && !done(); ++tests) {
    const auto completed = requests_.test_some();
    if (completed.empty()) return false;
    for (const int place : completed) mark(place);
    advance();
  }
  return done();
}

void Pipeline::mark(int place) {
  const auto index = static_cast<std::size_t>(place);
  (index < kWindow ? arrived_[index] : left_[index - kWindow]) = true;
}

void Pipeline::advance() {
  for (; sent_ < started_ && left_[sent_ % kWindow]; ++sent_) left_[sent_ % kWindow] = false;
  start_what_may();
  while (may_be_dealt_with()) {
    arrived_[received_ % kWindow] = false;
    const ReceiveItem& item = receives()[received_];
    if (item.add) kernels::add(item.data, scratch(received_));
    ++received_;
    start_what_may();
  }
}

bool Pipeline::may_be_dealt_with() const {
  return received_ < posted_ && arrived_[received_ % kWindow] && receives()[received_].after_sent <= sent_;
}

void Pipeline::start_what_may() {
  // What arrives in scratch may come early; what arrives in its place may not.
  const auto may_come = [this](std::size_t i) {
    return i < receives().size() && i < received_ + kWindow &&
           (receives()[i].add || receives()[i].after_sent <= sent_);
  };
  for (; may_come(posted_); ++posted_) requests_.start(posted_, posted_ % kWindow);
  const auto may_leave = [this](std::size_t i) {
    return i < sends().size() && i < sent_ + kWindow && sends()[i].after_received <= received_;
  };
  for (; may_leave(started_); ++started_)
    requests_.start(receives().size() + started_, kWindow + started_ % kWindow);
}

}  // namespace steelyard
