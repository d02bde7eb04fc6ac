#include <fmt/format.h>

#include <algorithm>

#include "src/cli/commands.hpp"
#include "src/cli/console.hpp"
#include "src/cli/explain.hpp"
#include "src/cli/output_file.hpp"
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

/// What the options ask to be written beside the tables.
struct Output {
  std::string option;
  std::string path;
  std::string text;
};

Expected<std::vector<Output>> outputs_of(const Options& options, const PlacementTask& task,
                                         std::span<const PlacementFigures> placements,
                                         const std::string& explanation) {
  std::vector<Output> all;
  if (const std::string& path = options.text("write"); !path.empty()) {
    auto text = explicit_text(task, placements.front());
    if (!text) return text.error();
    all.push_back({"write", path, std::move(text).value()});
  }
  if (const std::string& path = options.text("csv"); !path.empty())
    all.push_back({"csv", path, placements_csv(task, placements)});
  if (const std::string& path = options.text("json"); !path.empty())
    all.push_back({"json", path, json_text(placements_json(task, placements, explanation))});
  return all;
}

/// The tables, and what else was asked for.
struct Answer {
  std::string text;
  std::vector<Output> outputs;
};

Expected<Answer> answer(const Options& options) {
  auto task = placement_task(options);
  if (!task) return task.error();
  auto placements = place_all(task.value());
  if (!placements) return placements.error();
  const std::string explanation =
      options.flag("explain") ? explanation_of(options, task.value(), placements.value().front()) : "";
  auto outputs = outputs_of(options, task.value(), placements.value(), explanation);
  if (!outputs) return outputs.error();
  for (const Output& one : outputs.value())
    if (auto good = check_path(one.option, one.path); !good) return good.error();
  return Answer{text_of(task.value(), placements.value(), explanation), std::move(outputs).value()};
}

}  // namespace

int place(const Options& options) {
  const auto made = answer(options);
  if (!made) {
    print_error(made.error());
    return kUsage;
  }
  const auto& [text, outputs] = made.value();
  print(text, std::ranges::any_of(outputs, [](const Output& one) { return one.path == "-"; }));
  for (const Output& one : outputs)
    if (auto written = write_text(one.option, one.path, one.text); !written) {
      print_error(written.error());
      return kFailed;
    }
  return kDone;
}

}  // namespace steelyard::cli
