#pragma once

/// @file
/// A server and its workers without ranks: whole executions, driven by choices of what happens next.

#include <functional>
#include <optional>

#include "tests/support/server_memory.hpp"

namespace steelyard::ps {

/// What is explored.
struct Scene {
  int workers = 2;
  int bundles = 1;
  Clock steps = 3;
  const char* consistency = "asp";
  ConsistencyOptions consistency_options{};
  const char* staleness = "keep";
  StalenessOptions staleness_options{};
  bool in_worker_order = false;
  int diverging_worker = -1;  ///< Meets a value that is not finite ...
  Clock diverges_at = 0;      ///< ... in this step, from 1.
};

/// One execution. Worker w pushes 10^w in every step, so values tell who is part of an update.
class World {
 public:
  explicit World(const Scene& scene);

  /// What can happen next: a push of any worker that may, or a reply leaving.
  std::vector<std::function<void()>> actions();
  bool finished() const;
  std::size_t on_the_way() const { return on_the_way_.size(); }
  void send(std::size_t which);

  Server& server() { return server_; }
  /// Bundle 0 by version, as replies showed it.
  const std::vector<std::optional<float>>& history() const { return history_; }
  std::uint64_t refused() const { return refused_; }      ///< Replies that said "dropped".
  Clock greatest_lead() const { return greatest_lead_; }  ///< Of a worker at a read that was answered.
  /// Most steps that a worker has begun after one gave up.
  Clock after_stop() const;

 private:
  struct Conversation {
    bool to_push = true;
    bool waiting = false;
    bool dropped = false;
    std::int64_t version = 0;
  };
  struct WorkerState {
    Clock step = 1;
    Clock begun = 0;  ///< Steps.
    bool last = false;
    bool stop = false;
    bool heard_stop = false;
    bool done = false;
    std::vector<Conversation> bundles;
  };

  void begin_step(int worker);
  void push(int worker, int bundle);
  void take_replies();
  void after_reply(int worker);
  void leave(int worker);

  Scene scene_;
  std::unique_ptr<Consistency> consistency_;
  std::unique_ptr<StalenessPolicy> staleness_;
  std::unique_ptr<Optimizer> optimizer_;
  int copies_;
  Memory memory_;
  Server server_;
  std::vector<WorkerState> workers_;
  std::vector<Reply> on_the_way_;
  std::vector<float> promised_;  ///< [on the way] first value.
  std::vector<std::optional<float>> history_;
  std::uint64_t refused_ = 0;
  Clock greatest_lead_ = 0;
  std::vector<Clock> at_stop_;  ///< [workers] step that each had begun when one gave up.
  std::int64_t now_ = 0;
};

/// Executions of a scene that are looked at. Sanitizers make each take eight times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kMostExecutions = 20'000;
#else
constexpr std::size_t kMostExecutions = 200'000;
#endif

/// All executions of a scene, depth first, at most `most`; `check` sees each when it is over.
/// @param late replies leave at any moment, not at once. @return how many there were.
std::size_t explore(const Scene& scene, bool late, const std::function<void(World&)>& check,
                    std::size_t most = kMostExecutions);

}  // namespace steelyard::ps
