#include "modes/stopping.hpp"

#include <algorithm>
#include <utility>

namespace steelyard {
namespace {

constexpr std::int64_t kLookEveryNs = 1'000'000;
constexpr Step kMostStepsBetween = 1'000'000;
constexpr int kReceive = 0;
constexpr int kSend = 1;

bool works(const Session& session) {
  return Roles::index_in(session.roles.workers, session.world.rank()) != Roles::kNone;
}

}  // namespace

bool workers_in_step(const TrialConfig& config) {
  return config.mode == "allreduce" ||
         (config.consistency == "bsp" && config.consistency_options.backup_workers == 0);
}

Stopping::Stopping(Session& session)
    : session_(session),
      in_step_(workers_in_step(session.config) || session.roles.workers.size() == 1),
      ring_(session.world.duplicate()) {
  if (in_step_ && works(session)) workers_ = session.workers.duplicate();
  const int ranks = ring_.size();
  if (ranks == 1) return;
  messages_.add_receive(ring_, received_, (ring_.rank() + ranks - 1) % ranks, 0);
  messages_.add_send(ring_, sent_, (ring_.rank() + 1) % ranks, 0);
  messages_.start(kReceive);
  outstanding_ = 1;
}

void Stopping::pass_on(News news) {
  if (messages_.size() == 0 || std::exchange(passed_on_, true)) return;
  sent_.front() = static_cast<std::byte>(news);
  messages_.start(kSend);
  ++outstanding_;
}

void Stopping::look_for_message() {
  const std::int64_t now_ns = session_.recorder.now_ns();
  if (messages_.size() == 0 || now_ns < next_look_ns_) return;
  next_look_ns_ = now_ns + kLookEveryNs;
  for (const int message : messages_.test_some()) {
    --outstanding_;
    if (message == kReceive) told_ = told_ || received_.front() == static_cast<std::byte>(News::stop);
  }
}

bool Stopping::told() {
  if (told_) return true;
  told_ = session_.told_to_stop();
  if (!told_) look_for_message();
  if (told_) pass_on(News::stop);
  return told_;
}

bool Stopping::ends(Step step) {
  const bool ends = in_step_ ? agreed(step) && step + 1 < session_.config.steps : told();
  session_.stopped = session_.stopped || ends;
  return ends;
}

bool Stopping::agreed(Step step) {
  if (workers_->size() == 1) return told();
  if (agreement_.under_way()) {
    std::optional<trace::Scope> waiting;
    if (!agreement_.test()) waiting.emplace(session_.recorder, trace::Phase::wait);
    const auto [stop, steps] = agreement_.wait(session_.wait);
    if (stop != 0) return true;
    next_agreement_ = agreement_began_ + steps;
  }
  // What begins in the last step nobody would look at.
  if (step >= next_agreement_ && step + 1 < session_.config.steps) begin_agreement(step);
  return false;
}

void Stopping::begin_agreement(Step step) {
  const std::int64_t now_ns = session_.recorder.now_ns();
  const std::int64_t step_ns = (now_ns - agreement_ns_) / std::max<Step>(step - agreement_began_, 1);
  // Workers take the same: the most that any of them wants.
  const Step steps =
      step == 0 ? 1
                : std::clamp<Step>(kAgreeEveryNs / std::max<std::int64_t>(step_ns, 1), 1, kMostStepsBetween);
  agreement_began_ = step;
  agreement_ns_ = now_ns;
  agreement_.start(*workers_, {told() ? 1 : 0, steps});
}

void Stopping::progress() {
  if (agreement_.under_way()) agreement_.test();
}

bool Stopping::leaves_out() {
  const bool mine = told() || session_.stopped;
  session_.stopped = mpi::greatest(session_.workers, mine ? 1 : 0) != 0;
  return session_.stopped;
}

void Stopping::barrier(const mpi::Communicator& ranks, mpi::Wait wait) {
  mpi::barrier(ranks, wait, [this] { told(); });
}

void Stopping::finish() {
  const bool idle = Roles::index_in(session_.roles.idle, ring_.rank()) != Roles::kNone;
  const mpi::Wait wait = idle ? mpi::Wait::sleep : session_.wait;  // The others may need the cores.
  // A training that was given up leaves one behind, on all workers alike.
  if (agreement_.under_way()) agreement_.wait(session_.wait);
  barrier(ring_, wait);
  pass_on(News::none);
  while (outstanding_ > 0) outstanding_ -= static_cast<int>(messages_.wait_some(wait).size());
}

}  // namespace steelyard
