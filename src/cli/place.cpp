#include <fmt/format.h>

#include "src/cli/commands.hpp"
#include "src/cli/console.hpp"
#include "src/cli/explain.hpp"
#include "src/cli/placement_files.hpp"
#include "src/cli/placement_report.hpp"
#include "src/cli/placement_request.hpp"
#include "src/cli/report.hpp"

namespace steelyard::cli {
namespace {

constexpr std::size_t kColumns = 100;

bool alone(const PlacementTask& task) { return task.names.size() == 1; }

/// @return figures of every placement asked for. An error where all refuse, that of the first.
Expected<std::vector<PlacementFigures>> place_all(const PlacementTask& task) {
  std::vector<PlacementFigures> all;
  bool some = false;
  for (const std::string& name : task.names) {
    all.push_back(figures_of(task, name, alone(task)));
    some = some || all.back().refused.empty();
  }
  if (!some) return Error{all.front().refused};
  return all;
}

/// Of one placement, against all others.
std::string explanation_of(const Options& options, const PlacementTask& task,
                           const PlacementFigures& chosen) {
  PlacementTask others = task;
  others.options = among_many(options, task.options);
  std::vector<PlacementFigures> all;
  for (const std::string& name : all_placements())
    if (name != chosen.name) all.push_back(figures_of(others, name, false));
  return explain(task, chosen, all);
}

std::string text_of(const PlacementTask& task, std::span<const PlacementFigures> placements,
                    const std::string& explanation) {
  std::string text = model_text(task) + "\n" + comparison_text(task, placements);
  if (alone(task)) text += detail_text(task, placements.front());
  if (!explanation.empty()) text += "\n" + wrapped(explanation, kColumns) + "\n";
  return text;
}

Status write_files(const Options& options, const PlacementTask& task,
                   std::span<const PlacementFigures> placements, const std::string& explanation) {
  if (const std::string& path = options.text("write"); !path.empty()) {
    auto text = explicit_text(task, placements.front());
    if (!text) return text.error();
    if (auto written = write_text("write", path, text.value()); !written) return written;
  }
  if (const std::string& path = options.text("csv"); !path.empty())
    if (auto written = write_text("csv", path, placements_csv(task, placements)); !written) return written;
  if (const std::string& path = options.text("json"); !path.empty())
    return write_json(path, placements_json(task, placements, explanation));
  return success();
}

Status run(const Options& options) {
  auto task = placement_task(options);
  if (!task) return task.error();
  auto placements = place_all(task.value());
  if (!placements) return placements.error();
  const std::string explanation =
      options.flag("explain") ? explanation_of(options, task.value(), placements.value().front()) : "";
  const bool taken =
      options.text("json") == "-" || options.text("csv") == "-" || options.text("write") == "-";
  print(text_of(task.value(), placements.value(), explanation), taken);
  return write_files(options, task.value(), placements.value(), explanation);
}

}  // namespace

int place(const Options& options) {
  const Status done = run(options);
  if (done) return kDone;
  print_error(done.error());
  return kUsage;
}

}  // namespace steelyard::cli
