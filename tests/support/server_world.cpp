#include "tests/support/server_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace steelyard::ps {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::vector<BundleId> ids(int bundles) {
  std::vector<BundleId> all;
  for (int i = 0; i < bundles; ++i) all.push_back(static_cast<BundleId>(3 * i + 1));
  return all;
}

}  // namespace

World::World(const Scene& scene)
    : scene_(scene),
      consistency_(make_consistency(scene.consistency, scene.consistency_options).value()),
      staleness_(make_staleness(scene.staleness, scene.staleness_options).value()),
      optimizer_(make_optimizer("sgd", {1.0F, 0.0F}).value()),
      copies_(consistency_->pushes_per_update(scene.workers) == scene.workers ? 1 : 2),
      memory_(std::vector<std::size_t>(at(scene.bundles), 2), scene.workers, copies_),
      server_({scene.workers, 0, copies_, scene.in_worker_order, scene.staleness_options.recompute},
              {*optimizer_, *consistency_, *staleness_}, ids(scene.bundles), memory_.views()),
      workers_(at(scene.workers)) {
  for (int worker = 0; worker < scene.workers; ++worker) {
    workers_[at(worker)].bundles.resize(at(scene.bundles));
    begin_step(worker);
  }
}

void World::begin_step(int worker) {
  WorkerState& w = workers_[at(worker)];
  w.stop = w.stop || w.heard_stop || (worker == scene_.diverging_worker && w.step >= scene_.diverges_at);
  w.last = w.stop || w.step == scene_.steps;
  ++w.begun;
  for (Conversation& c : w.bundles) c.to_push = true;
}

void World::push(int worker, int bundle) {
  WorkerState& w = workers_[at(worker)];
  Conversation& c = w.bundles[at(bundle)];
  Header header = push_header(ids(scene_.bundles)[at(bundle)], worker, w.step, c.version);
  header.flags = (w.last ? kLast : 0U) | (w.stop ? kStop : 0U);
  std::ranges::fill(memory_.gradient(worker, bundle), static_cast<float>(std::pow(10.0, worker)));
  if (w.stop && at_stop_.empty())
    for (const WorkerState& one : workers_) at_stop_.push_back(one.begun);
  c.to_push = false;
  c.waiting = true;
  server_.receive(worker, bundle, header, ++now_);
  take_replies();
}

void World::send(std::size_t which) {
  const Reply reply = on_the_way_[which];
  EXPECT_EQ(promised_[which], memory_.value(reply)) << "overwritten while under way";
  on_the_way_.erase(on_the_way_.begin() + static_cast<std::ptrdiff_t>(which));
  promised_.erase(promised_.begin() + static_cast<std::ptrdiff_t>(which));
  WorkerState& w = workers_[at(reply.worker)];
  Conversation& c = w.bundles[at(reply.bundle)];
  EXPECT_GT(reply.version, c.version) << "a reply is newer than the one before";
  c.waiting = false;
  c.version = reply.version;
  c.dropped = (reply.flags & kDropped) != 0;
  w.heard_stop = w.heard_stop || (reply.flags & kStop) != 0;
  refused_ += c.dropped ? 1U : 0U;
  server_.sent(reply, ++now_);
  take_replies();
  after_reply(reply.worker);
}

void World::take_replies() {
  for (const Reply& reply : server_.due()) {
    Clock slowest = server_.clock(reply.worker, reply.bundle);
    for (int other = 0; other < scene_.workers; ++other)
      slowest = std::min(slowest, server_.clock(other, reply.bundle));
    greatest_lead_ = std::max(greatest_lead_, server_.clock(reply.worker, reply.bundle) - slowest);
    if (reply.bundle == 0) {
      history_.resize(std::max(history_.size(), static_cast<std::size_t>(reply.version) + 1));
      history_[static_cast<std::size_t>(reply.version)] = memory_.value(reply);
    }
    promised_.push_back(memory_.value(reply));
    on_the_way_.push_back(reply);
  }
  server_.due().clear();
}

/// When the whole step has been answered, the next one begins.
void World::after_reply(int worker) {
  WorkerState& w = workers_[at(worker)];
  const auto open = [](const Conversation& c) { return c.waiting || c.to_push; };
  if (std::ranges::any_of(w.bundles, open)) return;
  const bool again = scene_.staleness_options.recompute && !w.heard_stop &&
                     std::ranges::any_of(w.bundles, &Conversation::dropped);
  if (again) {
    for (Conversation& c : w.bundles) c.to_push = c.dropped;
    return;
  }
  if (w.last) {
    w.done = true;
    return;
  }
  const bool skips = scene_.consistency_options.backup_workers > 0;
  if (skips)
    for (const Conversation& c : w.bundles) w.step = std::max<Clock>(w.step, c.version);
  ++w.step;
  w.step <= scene_.steps ? begin_step(worker) : leave(worker);
}

void World::leave(int worker) {
  for (int bundle = 0; bundle < scene_.bundles; ++bundle) {
    const Conversation& c = workers_[at(worker)].bundles[at(bundle)];
    Header header = push_header(ids(scene_.bundles)[at(bundle)], worker, scene_.steps, c.version);
    header.flags = kLast | kNothing;
    server_.receive(worker, bundle, header, ++now_);
  }
  workers_[at(worker)].done = true;
}

std::vector<std::function<void()>> World::actions() {
  std::vector<std::function<void()>> all;
  for (int worker = 0; worker < scene_.workers; ++worker)
    for (int bundle = 0; bundle < scene_.bundles; ++bundle)
      if (!workers_[at(worker)].done && workers_[at(worker)].bundles[at(bundle)].to_push)
        all.push_back([this, worker, bundle] { push(worker, bundle); });
  for (std::size_t reply = 0; reply < on_the_way_.size(); ++reply)
    all.push_back([this, reply] { send(reply); });
  return all;
}

Clock World::after_stop() const {
  Clock most = 0;
  for (std::size_t i = 0; i < at_stop_.size(); ++i) most = std::max(most, workers_[i].begun - at_stop_[i]);
  return most;
}

bool World::finished() const {
  return std::ranges::all_of(workers_, &WorkerState::done) && on_the_way_.empty();
}

std::size_t explore(const Scene& scene, bool late, const std::function<void(World&)>& check,
                    std::size_t most) {
  std::vector<std::size_t> choices;
  std::size_t executions = 0;
  do {
    World world(scene);
    std::vector<std::size_t> widths;
    while (!world.finished()) {
      const auto actions = world.actions();
      if (actions.empty()) {
        ADD_FAILURE() << "nobody can act and not all have finished: a deadlock";
        return executions;
      }
      if (widths.size() == choices.size()) choices.push_back(0);
      actions[choices[widths.size()]]();
      widths.push_back(actions.size());
      while (!late && world.on_the_way() > 0) world.send(0);
    }
    check(world);
    if (testing::Test::HasFailure() || ++executions == most) return executions;
    while (!choices.empty() && choices.back() + 1 == widths[choices.size() - 1]) choices.pop_back();
    if (!choices.empty()) ++choices.back();
  } while (!choices.empty());
  return executions;
}

}  // namespace steelyard::ps
