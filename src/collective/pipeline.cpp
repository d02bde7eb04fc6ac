#include "src/collective/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "kernels/elementwise.hpp"

namespace steelyard {
namespace {

/// Tests in a row, as long as each has something to report: then backward goes on.
constexpr int kTests = 8;

}  // namespace

Pipeline::Pipeline(const mpi::Communicator& ranks, Schedule schedule, Wire wire, int tag)
    : schedule_(std::move(schedule)),
      wire_(wire),
      wide_in_(is_narrow() || !schedule_.adds() ? 0 : kWindow * schedule_.largest()),
      narrow_in_(is_narrow() ? kWindow * schedule_.largest() : 0),
      narrow_out_(narrow_in_.size()),
      requests_(2 * kWindow) {
  for (std::size_t i = 0; i < receives().size(); ++i)
    requests_.add_receive(ranks, arrival(i), receives()[i].from, tag);
  for (std::size_t i = 0; i < sends().size(); ++i)
    requests_.add_send(ranks, departure(i), sends()[i].to, tag);
  received_ = receives().size();
  sent_ = sends().size();
}

std::span<std::byte> Pipeline::arrival(std::size_t receive) {
  const ReceiveItem& item = receives()[receive];
  if (is_narrow()) return std::as_writable_bytes(scratch(narrow_in_, receive, item.data.size()));
  return std::as_writable_bytes(item.add ? scratch(wide_in_, receive, item.data.size()) : item.data);
}

std::span<const std::byte> Pipeline::departure(std::size_t send) {
  const SendItem& item = sends()[send];
  if (is_narrow()) return std::as_bytes(scratch(narrow_out_, send, item.data.size()));
  return std::as_bytes(item.data);
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
    if (done()) round_at_end();
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
    deal_with(received_++);
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
           (is_narrow() || receives()[i].add || receives()[i].after_sent <= sent_);
  };
  for (; may_come(posted_); ++posted_) requests_.start(posted_, posted_ % kWindow);
  const auto may_leave = [this](std::size_t i) {
    return i < sends().size() && i < sent_ + kWindow && sends()[i].after_received <= received_;
  };
  for (; may_leave(started_); ++started_) {
    if (is_narrow()) narrow_for(started_);
    requests_.start(receives().size() + started_, kWindow + started_ % kWindow);
  }
}

void Pipeline::deal_with(std::size_t receive) {
  const ReceiveItem& item = receives()[receive];
  if (is_narrow()) {
    const auto from = scratch(narrow_in_, receive, item.data.size());
    item.add ? add_widened(wire_, item.data, from) : widen(wire_, from, item.data);
  } else if (item.add) {
    kernels::add(item.data, scratch(wide_in_, receive, item.data.size()));
  }
}

void Pipeline::narrow_for(std::size_t send) {
  const SendItem& item = sends()[send];
  const auto to = scratch(narrow_out_, send, item.data.size());
  narrow(wire_, item.data, to);
  if (item.result) widen(wire_, to, item.data);
}

void Pipeline::round_at_end() {
  if (!is_narrow()) return;
  // Nothing is under way, so the scratch is free.
  for (auto rest = schedule_.rounded_at_end(); !rest.empty();) {
    const auto data = rest.first(std::min(rest.size(), narrow_out_.size()));
    const auto rounded = narrow_out_.span().first(data.size());
    narrow(wire_, data, rounded);
    widen(wire_, rounded, data);
    rest = rest.subspan(data.size());
  }
}

}  // namespace steelyard
