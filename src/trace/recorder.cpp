#include "src/trace/recorder.hpp"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace steelyard::trace {
namespace {

constexpr std::size_t kEventsInMemory = 1U << 16U;
constexpr std::size_t kRowsReserved = 1U << 12U;
constexpr Step kMostStepsReserved = 1 << 22;
/// Per step, of the workers that are waited for; few steps wait for more.
constexpr int kReadSumsReserved = 8;
constexpr Step kMostReadSumsReserved = 1 << 20;

std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::int64_t cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

CpuUse cpu_use() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {cpu_ns(), static_cast<std::uint32_t>(usage.ru_nivcsw)};
}

Recorder::Recorder() : epoch_ns_(read_clock(CLOCK_MONOTONIC)), epoch_unix_ns_(read_clock(CLOCK_REALTIME)) {}

std::int64_t Recorder::now_ns() const { return read_clock(CLOCK_MONOTONIC) - epoch_ns_; }

void Recorder::attach(std::unique_ptr<RankFile> file, double flush_seconds) {
  file_ = std::move(file);
  flush_interval_ns_ = static_cast<std::int64_t>(flush_seconds * 1e9);
  last_flush_ns_ = now_ns();
  events_.reserve(kEventsInMemory);
  reads_.reserve(kEventsInMemory);
  drops_.reserve(kEventsInMemory);
  measure_cost();
}

void Recorder::close(const mpi::ClockOffset& at_end) {
  if (!file_) return;
  write_rows();
  file_->close(at_end);
  file_.reset();
}

void Recorder::begin_trial(std::uint16_t trial, Step steps, int workers) {
  if (file_) write_rows();
  trial_ = trial;
  steps_.clear();
  loads_.clear();
  shard_loads_.clear();
  stalenesses_.clear();
  drop_counts_.clear();
  steps_written_ = loads_written_ = stalenesses_written_ = 0;
  // Pages are touched here and not one by one in the measured loop.
  steps_.resize(static_cast<std::size_t>(std::min(steps, kMostStepsReserved)));
  steps_.clear();
  const Step sums = std::min(steps, kMostReadSumsReserved) * std::min(workers, kReadSumsReserved);
  read_sums_.resize(static_cast<std::size_t>(std::min(sums, kMostReadSumsReserved)));
  read_sums_.clear();
  drop_counts_.reserve(static_cast<std::size_t>(workers) * kDropReasonNames.size());
  loads_.reserve(kRowsReserved);
  shard_loads_.reserve(kRowsReserved);
  stalenesses_.reserve(kRowsReserved);
  row_ = {};
  flushing_ns_ = 0;
  recorded_ = 0;
}

void Recorder::add(const DropRow& row) {
  count_drop(drop_counts_, row);
  if (!file_) return;
  ++recorded_;
  drops_.push_back(row);
}

void Recorder::add(const ReadRow& row) {
  sum_read(read_sums_, row);
  if (!file_) return;
  ++recorded_;
  reads_.push_back(row);
}

int Recorder::switch_to(int next, std::int64_t time_ns) {
  if (phase_ >= 0) spent_ns_[static_cast<std::size_t>(phase_)] += time_ns - switched_ns_;
  switched_ns_ = time_ns;
  return std::exchange(phase_, next);
}

void Recorder::begin_step(Step step) {
  step_ = step;
  spent_ns_.fill(0);
  cpu_at_begin_ = cpu_use();
  row_.begin_ns = now_ns();
}

void Recorder::end_step(std::uint32_t samples, float loss) {
  row_.trial = trial_;
  row_.step = step_;
  row_.samples = samples;
  row_.loss = loss;
  const auto spent = [this](Phase phase) { return spent_ns_[static_cast<std::size_t>(phase)]; };
  const CpuUse use = cpu_use();
  row_.cpu_ns = use.cpu_ns - cpu_at_begin_.cpu_ns;
  row_.involuntary_switches = use.involuntary_switches - cpu_at_begin_.involuntary_switches;
  row_.data_ns = spent(Phase::data);
  row_.forward_ns = spent(Phase::forward);
  row_.backward_ns = spent(Phase::backward);
  row_.push_ns = spent(Phase::push) + spent(Phase::allreduce);
  row_.wait_ns = spent(Phase::wait);
  row_.update_ns = spent(Phase::update);
  row_.end_ns = now_ns();
  steps_.push_back(row_);
  row_ = {};  // Not in begin_step: what arrives between two steps counts in the second.
}

void Recorder::count_sent(std::uint64_t bytes, std::uint32_t messages) {
  row_.bytes_out += bytes;
  row_.messages += messages;
}

void Recorder::count_received(std::uint64_t bytes, std::uint32_t messages) {
  row_.bytes_in += bytes;
  row_.messages += messages;
}

bool Recorder::memory_fills() const {
  const auto fills = [](std::size_t rows, std::size_t reserved) { return rows > reserved * 3 / 4; };
  return fills(events_.size(), kEventsInMemory) || fills(shard_loads_.size(), kRowsReserved) ||
         fills(drops_.size(), kEventsInMemory) || fills(reads_.size(), kEventsInMemory);
}

void Recorder::flush_if_due() {
  if (!file_) {
    shard_loads_.clear();  // Nobody will read them.
    return;
  }
  if (memory_fills() || now_ns() - last_flush_ns_ >= flush_interval_ns_) write_rows();
}

void Recorder::write_rows() {
  const std::int64_t begin = now_ns();
  file_->append(events_.data(), events_.size());
  file_->append(steps_.data() + steps_written_, steps_.size() - steps_written_);
  file_->append(loads_.data() + loads_written_, loads_.size() - loads_written_);
  file_->append(shard_loads_.data(), shard_loads_.size());
  file_->append(stalenesses_.data() + stalenesses_written_, stalenesses_.size() - stalenesses_written_);
  file_->append(drops_.data(), drops_.size());
  file_->append(reads_.data(), reads_.size());
  file_->flush();
  events_.clear();
  shard_loads_.clear();
  drops_.clear();
  reads_.clear();
  steps_written_ = steps_.size();
  loads_written_ = loads_.size();
  stalenesses_written_ = stalenesses_.size();
  last_flush_ns_ = now_ns();
  flushing_ns_ += last_flush_ns_ - begin;
}

void Recorder::measure_cost() {
  constexpr int kEvents = 2000;
  const std::int64_t begin = now_ns();
  for (int i = 0; i < kEvents; ++i) event(Phase::data, 0, now_ns());
  cost_of_event_ns_ = static_cast<double>(now_ns() - begin) / kEvents;
  events_.clear();
  recorded_ = 0;
}

std::int64_t Recorder::overhead_ns() const {
  return flushing_ns_ + static_cast<std::int64_t>(static_cast<double>(recorded_) * cost_of_event_ns_);
}

Scope::Scope(Recorder& recorder, Phase phase, int peer, int shard, std::uint64_t bytes)
    : recorder_(recorder),
      row_{recorder.trial_, recorder.step_, phase, peer, shard, recorder.now_ns(), 0, bytes},
      outer_(recorder.switch_to(static_cast<int>(phase), row_.begin_ns)) {}

Scope::~Scope() {
  row_.end_ns = recorder_.now_ns();
  recorder_.switch_to(outer_, row_.end_ns);
  if (recorder_.file_) recorder_.record(row_);
}

}  // namespace steelyard::trace
