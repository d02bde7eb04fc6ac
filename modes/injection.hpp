#pragma once

/// @file
/// `--slow`: unevenness injected on purpose, to try on one machine what unequal machines do. What is delayed,
/// and how, is in docs/injection.md.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/base/types.hpp"
#include "src/mpi/topology.hpp"

namespace steelyard {

struct Roles;
struct TrialConfig;

/// What is slower than it is, by how much. Items add up: each adds its own delay to what it slows, so two
/// factors f and g make f + g - 1. Pure: every rank computes the same answers.
class Injection {
 public:
  enum class Kind : std::uint8_t { compute, jitter, apply, bandwidth };
  static constexpr int kAll = -1;

  struct Item {
    Kind kind = Kind::compute;
    int first = kAll;  ///< Number of the worker or server, or kAll; of a link the lower world rank.
    int second = 0;    ///< Of a link: the higher world rank.
    double value = 1.0;
    std::string text{};  ///< As it was given.
  };

  bool empty() const { return items_.empty(); }
  const std::vector<Item>& items() const { return items_; }
  /// As it was given; "" for none.
  const std::string& text() const { return text_; }
  /// For people: "worker 2 compute x2, every worker jitter 0.3".
  std::string words() const;

  /// Whether some step of worker number `worker` takes longer.
  bool slows_worker(int worker) const;
  /// Times as long as it needs that worker number `worker` computes in `step`; at least 1. Jitter has
  /// max(1, exp(sigma z)), z standard normal from seed, worker and step, at most kMostFactor.
  double compute_factor(int worker, Step step, std::uint64_t seed) const;
  /// Times as long as it needs that server number `server` handles a push; at least 1.
  double apply_factor(int server) const;
  /// Share of their bandwidth that messages between two ranks of the world get; at most 1.
  double bandwidth(Rank a, Rank b) const;

  static constexpr double kMostFactor = 1000.0;

 private:
  friend Expected<Injection> parse_injection(std::string_view text);

  std::vector<Item> items_;
  std::string text_;
};

/// @param text items with a ',' between, as "worker=2:compute=2.0,server=*:apply=3"; "" is none. @return what
/// it says, or which item is wrong, why, and what is allowed.
Expected<Injection> parse_injection(std::string_view text);

/// Whether every item of `config.injection` names something that the trial has.
Status check_injection(const TrialConfig& config, const Roles& roles, const mpi::Topology& topology);

}  // namespace steelyard
