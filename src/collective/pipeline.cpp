#include "src/collective/pipeline.hpp"

#include <algorithm>
#include <utility>

#include "kernels/elementwise.hpp"

namespace steelyard {
namespace {

/// Tests in a row, as long as each has something to report: then backward goes on.
constexpr int kTests = 8;

/// Elements under way in each direction. Every rank of a ring waits for the one before, and any may be kept
/// off its core for a while, under a quota for most of the time: with 2 MiB a link of 500 Mbit/s stays busy
/// for 30 ms, with 512 KiB it was idle for a fifth of the time. Of the large messages of shared memory four
/// will do.
constexpr std::size_t kUnderWay = std::size_t{1} << 19U;
constexpr std::size_t kLeast = 4;

constexpr std::size_t window_for(std::size_t largest, std::size_t most) {
  return std::clamp(kUnderWay / std::max(largest, std::size_t{1}), kLeast, most);
}

}  // namespace

Pipeline::Pipeline(const mpi::Communicator& ranks, Schedule schedule, Wire wire, int tag)
    : schedule_(std::move(schedule)),
      wire_(wire),
      window_(window_for(schedule_.largest(), kMost)),
      wide_in_(is_narrow() || !schedule_.adds() ? 0 : window_ * schedule_.largest()),
      narrow_in_(is_narrow() ? window_ * schedule_.largest() : 0),
      narrow_out_(narrow_in_.size()),
      requests_(2 * window_) {
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
  (index < window_ ? arrived_[index] : left_[index - window_]) = true;
}

void Pipeline::advance() {
  for (; sent_ < started_ && left_[sent_ % window_]; ++sent_) left_[sent_ % window_] = false;
  start_what_may();
  while (may_be_dealt_with()) {
    arrived_[received_ % window_] = false;
    deal_with(received_++);
    start_what_may();
  }
}

bool Pipeline::may_be_dealt_with() const {
  return received_ < posted_ && arrived_[received_ % window_] && receives()[received_].after_sent <= sent_;
}

void Pipeline::start_what_may() {
  // What arrives in scratch may come early; what arrives in its place may not.
  const auto may_come = [this](std::size_t i) {
    return i < receives().size() && i < received_ + window_ &&
           (is_narrow() || receives()[i].add || receives()[i].after_sent <= sent_);
  };
  for (; may_come(posted_); ++posted_) requests_.start(posted_, posted_ % window_);
  const auto may_leave = [this](std::size_t i) {
    return i < sends().size() && i < sent_ + window_ && sends()[i].after_received <= received_;
  };
  for (; may_leave(started_); ++started_) {
    if (is_narrow()) narrow_for(started_);
    requests_.start(receives().size() + started_, window_ + started_ % window_);
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
