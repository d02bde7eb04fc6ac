#include "src/cli/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "modes/ps/placement/load.hpp"
#include "src/cli/console.hpp"
#include "src/cli/placement_report.hpp"

namespace steelyard::cli {
namespace {

constexpr std::size_t kNameColumns = 60;

/// Backward reaches their servers one after the other: few messages, but little at the same time.
constexpr std::string_view kOneAfterAnother[] = {"wrap", "range"};

bool one_after_another(const PlacementFigures& figures) {
  return std::ranges::find(kOneAfterAnother, figures.name) != std::end(kOneAfterAnother);
}

bool even(const PlacementFigures& figures) { return figures.imbalance.max_over_mean <= kEvenEnough; }

std::string factor(double value) { return fmt::format("{:.2f}", value); }

std::string messages_text(std::size_t count) { return counted(count, "message") + " a step"; }

const ps::Shard& largest_shard(const PlacementTask& task, const PlacementFigures& chosen,
                               std::size_t server) {
  const ps::Shard* largest = nullptr;
  std::size_t most = 0;
  for (const ps::Shard& shard : chosen.shards) {
    const std::size_t bytes = shard.elements() * ps::element_bytes(task.inventory[shard.tensor]);
    if (static_cast<std::size_t>(shard.server) != server || bytes <= most) continue;
    largest = &shard;
    most = bytes;
  }
  return *largest;
}

/// Of bytes alone, as if all weights were equal.
double plain_max_over_mean(const PlacementTask& task, const PlacementFigures& chosen) {
  return static_cast<double>(std::ranges::max(chosen.server_bytes)) * static_cast<double>(task.servers()) /
         static_cast<double>(task.bytes());
}

/// Whether most of the unevenness goes away if weights are not looked at.
bool weights_are_to_blame(const PlacementTask& task, const PlacementFigures& chosen) {
  return !task.options.weights.empty() &&
         plain_max_over_mean(task, chosen) - 1.0 < (chosen.imbalance.max_over_mean - 1.0) / 2.0;
}

/// Where a placement of whole tensors is worse than another: how good the best is. Else "".
std::string best_of_whole(const PlacementFigures& chosen, std::span<const PlacementFigures> others) {
  const PlacementFigures* best = nullptr;
  for (const PlacementFigures& one : others)
    if (one.refused.empty() && one.cut_tensors == 0 &&
        (best == nullptr || one.imbalance.max_over_mean < best->imbalance.max_over_mean))
      best = &one;
  if (chosen.cut_tensors > 0 || best == nullptr ||
      chosen.imbalance.max_over_mean <= kEvenEnough * best->imbalance.max_over_mean)
    return "";
  return fmt::format("; the best of whole tensors, {}, has {}", best->name,
                     factor(best->imbalance.max_over_mean));
}

std::string cause(const PlacementTask& task, const PlacementFigures& chosen) {
  const std::size_t server = chosen.fullest;
  const auto held = static_cast<double>(chosen.server_bytes[server]);
  const auto total = static_cast<double>(task.bytes());
  const double fair = task.fair_share(server);
  if (weights_are_to_blame(task, chosen))
    return fmt::format(
        "its rule does not heed weights: by its weight of {} the server's part is {:.1f} %, and it has "
        "{:.1f} %",
        number_text(task.weight(server)), 100.0 * fair / total, 100.0 * held / total);
  const ps::Shard& largest = largest_shard(task, chosen, server);
  const Tensor& tensor = task.inventory[largest.tensor];
  const double bytes = static_cast<double>(largest.elements() * ps::element_bytes(tensor));
  const std::string name = shown_name(tensor.name, kNameColumns);
  if (bytes <= kEvenEnough * fair)
    return fmt::format(
        "its rule gives that server {} of the {}, the largest of them '{}' with {}, {} fair shares",
        with_commas(static_cast<std::int64_t>(chosen.server_shards[server])),
        counted(chosen.shard_count, "shard"), name, bytes_text(bytes), factor(bytes / fair));
  const std::string beside =
      held > kEvenEnough * bytes
          ? fmt::format(", with {} beside it", counted(chosen.server_shards[server] - 1, "more shard"))
          : "";
  if (largest.elements() == tensor.elements())
    return fmt::format("tensor '{}' alone is {}, {} fair shares, and is not cut{}", name, bytes_text(bytes),
                       factor(bytes / fair), beside);
  return fmt::format("its piece of tensor '{}' alone is {}, {} fair shares, of the {} that the tensor has{}",
                     name, bytes_text(bytes), factor(bytes / fair),
                     bytes_text(static_cast<double>(tensor.bytes())), beside);
}

/// The even one with the fewest messages; where there is none, the least uneven; nullptr if that is no
/// better.
const PlacementFigures* cure_of(const PlacementFigures& chosen, std::span<const PlacementFigures> others) {
  const auto rank = [](const PlacementFigures& one) {
    return std::tuple(!even(one), even(one) ? 0.0 : one.imbalance.max_over_mean, one_after_another(one),
                      one.messages, one.imbalance.max_over_mean);
  };
  const PlacementFigures* best = nullptr;
  for (const PlacementFigures& one : others)
    if (one.refused.empty() && one.imbalance.max_over_mean < chosen.imbalance.max_over_mean &&
        (best == nullptr || rank(one) < rank(*best)))
      best = &one;
  return best;
}

std::string cure_text(const PlacementFigures& chosen, std::span<const PlacementFigures> others) {
  const PlacementFigures* cure = cure_of(chosen, others);
  if (cure == nullptr) return "No other placement is more even.";
  const std::string cuts =
      cure->cut_tensors == 0 ? "cuts no tensor" : "cuts " + counted(cure->cut_tensors, "tensor");
  const std::string now = cure->messages == chosen.messages
                              ? ", as many as now"
                              : " instead of " + with_commas(static_cast<std::int64_t>(chosen.messages));
  return fmt::format("{} {}: its fullest server holds {}, {} fair shares; it {} and takes {}{}.", cure->name,
                     even(*cure) ? "would cure it" : "is the least uneven",
                     bytes_text(static_cast<double>(cure->server_bytes[cure->fullest])),
                     factor(cure->imbalance.max_over_mean), cuts, messages_text(cure->messages), now);
}

/// Of an even placement: what its messages are like.
std::string messages_remark(const PlacementTask& task, const PlacementFigures& chosen,
                            std::span<const PlacementFigures> others) {
  const PlacementFigures* fewest = nullptr;
  for (const PlacementFigures& one : others)
    if (one.refused.empty() && even(one) && !one_after_another(one) &&
        (fewest == nullptr || one.messages < fewest->messages))
      fewest = &one;
  if (fewest != nullptr && 2 * fewest->messages <= chosen.messages)
    return fmt::format("It takes {}, and {} is as even with {}.", messages_text(chosen.messages),
                       fewest->name, with_commas(static_cast<std::int64_t>(fewest->messages)));
  const auto mean = static_cast<double>(chosen.messages) / static_cast<double>(task.servers());
  const auto most = static_cast<double>(chosen.most_messages());
  constexpr double kMany = 2.0;    // Times the mean: the server may be late for that,
  constexpr double kCounts = 4.0;  // but not for a message or two.
  if (most > kMany * mean && most > mean + kCounts)
    return fmt::format(
        "Of its {} one server gets {}, where the mean is {}: that server may be late for its messages.",
        messages_text(chosen.messages), with_commas(static_cast<std::int64_t>(chosen.most_messages())),
        number_text(mean));
  return fmt::format("It takes {}, at most {} to one server; no other even placement does with half of them.",
                     messages_text(chosen.messages),
                     with_commas(static_cast<std::int64_t>(chosen.most_messages())));
}

}  // namespace

std::string explain(const PlacementTask& task, const PlacementFigures& chosen,
                    std::span<const PlacementFigures> others) {
  const std::string server = fmt::format("{}", chosen.fullest);
  const std::string load =
      fmt::format("holds {}, {} times its fair share of {}",
                  bytes_text(static_cast<double>(chosen.server_bytes[chosen.fullest])),
                  factor(chosen.imbalance.max_over_mean), bytes_text(task.fair_share(chosen.fullest)));
  if (even(chosen))
    return fmt::format("{} is even: the fullest server, {}, {}. {}", chosen.name, server, load,
                       messages_remark(task, chosen, others));
  return fmt::format("{} is uneven: server {} {}, because {}. {}", chosen.name, server, load,
                     cause(task, chosen) + best_of_whole(chosen, others), cure_text(chosen, others));
}

}  // namespace steelyard::cli
