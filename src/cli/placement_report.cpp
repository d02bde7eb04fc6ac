#include "src/cli/placement_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/cli/console.hpp"

namespace steelyard::cli {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kMostServersShown = 64;
constexpr std::size_t kLargestShown = 10;

std::string count_text(std::size_t count) { return with_commas(static_cast<std::int64_t>(count)); }
std::string size_text(std::size_t bytes) { return bytes_text(static_cast<double>(bytes)); }

/// As it is shown: differences that nobody sees do not order.
long hundredths(const PlacementFigures& one) { return std::lround(one.imbalance.max_over_mean * 100.0); }

std::vector<const PlacementFigures*> ranked(std::span<const PlacementFigures> placements) {
  std::vector<const PlacementFigures*> order;
  for (const PlacementFigures& one : placements)
    if (one.refused.empty()) order.push_back(&one);
  std::ranges::stable_sort(
      order, {}, [](const PlacementFigures* one) { return std::pair(hundredths(*one), one->messages); });
  return order;
}

std::string optimum_text(const ps::Optimum& best) {
  return line_text("optimal",
                   fmt::format("fullest server {}, lower bound {}, gap {:.2f} %{}", bytes_text(best.load),
                               bytes_text(best.bound), 100.0 * best.gap(), best.proven ? ", proven" : ""));
}

std::string refused_text(const PlacementFigures& one) {
  const std::string itself = fmt::format("placement '{}' ", one.name);
  const std::string reason =
      one.refused.starts_with(itself) ? one.refused.substr(itself.size()) : one.refused;
  return wrapped(fmt::format("refused    {}: {}", one.name, reason), kColumns, std::string(11, ' ')) + "\n";
}

/// '#' up to the load, '|' where an even one would end.
std::string bar(double over_mean, double longest, std::size_t width) {
  const double scale = static_cast<double>(width - 1) / std::max(longest, 1.0);
  std::string text(static_cast<std::size_t>(std::lround(over_mean * scale)), '#');
  text.resize(width, ' ');
  text[static_cast<std::size_t>(std::lround(scale))] = '|';
  return text;
}

/// Servers by number; of too many, the fullest.
std::vector<std::size_t> shown_servers(const PlacementTask& task, const PlacementFigures& figures) {
  std::vector<std::size_t> servers(task.servers());
  std::iota(servers.begin(), servers.end(), std::size_t{0});
  if (servers.size() <= kMostServersShown) return servers;
  std::ranges::stable_sort(servers, std::greater{}, [&](std::size_t s) {
    return static_cast<double>(figures.server_bytes[s]) / task.weight(s);
  });
  servers.resize(kMostServersShown);
  std::ranges::sort(servers);
  return servers;
}

std::string servers_text(const PlacementTask& task, const PlacementFigures& figures) {
  constexpr std::size_t kBar = 40;
  const double longest = figures.imbalance.max_over_mean;
  const bool weighed = !task.options.weights.empty();
  std::vector<std::string> head = {"server", "bytes",    "share %",
                                   "shards", "messages", std::string(kBar, ' ')};
  if (weighed) head.insert(head.begin() + 1, "weight");
  Table table(head);
  const auto shown = shown_servers(task, figures);
  for (const std::size_t s : shown) {
    const auto bytes = static_cast<double>(figures.server_bytes[s]);
    std::vector<std::string> row = {std::to_string(s),
                                    bytes_text(bytes),
                                    fmt::format("{:.2f}", 100.0 * bytes / static_cast<double>(task.bytes())),
                                    count_text(figures.server_shards[s]),
                                    count_text(figures.server_messages[s]),
                                    bar(bytes / task.fair_share(s), longest, kBar)};
    if (weighed) row.insert(row.begin() + 1, number_text(task.weight(s)));
    table.add(std::move(row));
  }
  std::string text = table.text();
  if (shown.size() < task.servers())
    text += fmt::format("The {} fullest of {} servers; --json and --csv have all.\n", shown.size(),
                        count_text(task.servers()));
  return text;
}

std::string largest_text(const PlacementTask& task, const PlacementFigures& figures) {
  constexpr std::size_t kName = 44;
  Table table({"largest tensors", "bytes", "of model %", "fair shares", "on servers"});
  for (const TensorOwners& one : largest_tensors(task, figures, kLargestShown)) {
    const auto bytes = static_cast<double>(task.inventory[one.tensor].bytes());
    table.add({shown_name(task.inventory[one.tensor].name, kName), bytes_text(bytes),
               fmt::format("{:.2f}", 100.0 * bytes / static_cast<double>(task.bytes())),
               fmt::format("{:.2f}",
                           bytes / static_cast<double>(task.bytes()) * static_cast<double>(task.servers())),
               ranges_text(one.servers, 18)});
  }
  return table.text();
}

}  // namespace

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count_text(count), what, count == 1 ? "" : "s");
}

std::string shown_name(const std::string& name, std::size_t width) {
  std::string plain = name;
  std::ranges::replace_if(
      plain, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  if (plain.size() <= width) return plain;
  std::size_t begin = plain.size() - (width - 2);
  while (begin < plain.size() && (plain[begin] & 0xC0) == 0x80) ++begin;  // Not within a character.
  return ".." + plain.substr(begin);
}

std::string model_text(const PlacementTask& task) {
  const std::size_t bytes = task.bytes();
  std::string text =
      line_text("model", fmt::format("{}, {}, {}, {}", shown_name(task.model, 36),
                                     counted(task.inventory.size(), "tensor"),
                                     counted(total_elements(task.inventory), "element"), size_text(bytes)));
  text += line_text(
      "servers",
      fmt::format("{}, {} each if all is even{}", count_text(task.servers()),
                  bytes_text(static_cast<double>(bytes) / static_cast<double>(task.servers())),
                  task.options.weights.empty() ? "" : "; max/mean, CoV and Gini are of bytes over weight"));
  const auto largest = std::ranges::max_element(task.inventory, {}, &Tensor::bytes);
  const auto bytes_of_largest = static_cast<double>(largest->bytes());
  text += line_text(
      "largest",
      fmt::format("{}, {}, {:.2f} x that", shown_name(largest->name, 50), bytes_text(bytes_of_largest),
                  bytes_of_largest * static_cast<double>(task.servers()) / static_cast<double>(bytes)));
  text += line_text(
      "bound", fmt::format("whole tensors have a max/mean of at least {:.2f}", whole_tensor_bound(task)));
  return text;
}

std::string comparison_text(const PlacementTask& task, std::span<const PlacementFigures> placements) {
  Table table({"placement", "fullest", "max/mean", "CoV", "Gini", "uneven %", "shards", "cut", "messages",
               "most to one"});
  std::string notes;
  for (const PlacementFigures* one : ranked(placements)) {
    const trace::Imbalance& i = one->imbalance;
    table.add({shown_name(one->name, 24), size_text(one->server_bytes[one->fullest]),
               fmt::format("{:.2f}", i.max_over_mean), fmt::format("{:.2f}", i.cov),
               fmt::format("{:.2f}", i.gini), fmt::format("{:.1f}", i.percent_imbalance),
               count_text(one->shard_count), count_text(one->cut_tensors), count_text(one->messages),
               count_text(one->most_messages())});
    if (one->optimum) notes += optimum_text(*one->optimum);
  }
  for (const PlacementFigures& one : placements)
    if (!one.refused.empty()) notes += refused_text(one);
  return table.text() +
         "fullest: bytes of the fullest server; cut: tensors; messages: pushes of one worker in a step\n" +
         (notes.empty() ? "" : "\n" + notes) + (task.names.size() > 1 ? "" : "\n");
}

std::string detail_text(const PlacementTask& task, const PlacementFigures& figures) {
  return servers_text(task, figures) + "|: where an even placement would end\n\n" +
         largest_text(task, figures);
}

std::string ranges_text(const std::vector<int>& ascending, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) ++last;
    const std::string range = last == i       ? fmt::format("{}", ascending[i])
                              : last == i + 1 ? fmt::format("{},{}", ascending[i], ascending[last])
                                              : fmt::format("{}-{}", ascending[i], ascending[last]);
    if (text.size() + range.size() + 3 > width) return text + ",..";
    text += (text.empty() ? "" : ",") + range;
    i = last + 1;
  }
  return text;
}

std::vector<TensorOwners> largest_tensors(const PlacementTask& task, const PlacementFigures& figures,
                                          std::size_t count) {
  std::vector<TensorId> order(task.inventory.size());
  std::iota(order.begin(), order.end(), TensorId{0});
  count = std::min(count, order.size());
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), {},
                            [&](TensorId id) { return std::pair(~task.inventory[id].bytes(), id); });
  std::vector<TensorOwners> largest;
  for (const TensorId id : std::span(order).first(count)) {
    TensorOwners owners{id, {}};
    auto shard = std::ranges::lower_bound(figures.shards, id, {}, &ps::Shard::tensor);
    for (; shard != figures.shards.end() && shard->tensor == id; ++shard)
      owners.servers.push_back(shard->server);
    std::ranges::sort(owners.servers);
    owners.servers.erase(std::unique(owners.servers.begin(), owners.servers.end()), owners.servers.end());
    largest.push_back(std::move(owners));
  }
  return largest;
}

}  // namespace steelyard::cli
