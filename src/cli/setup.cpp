#include "src/cli/setup.hpp"

#include "src/cli/dry_run.hpp"
#include "src/cli/report.hpp"

namespace steelyard::cli {
namespace {

template <typename T>
std::optional<Error> error_of(const Expected<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

}  // namespace

std::unique_ptr<Setup> Setup::begin(const Options& options) {
  // main() has checked them before MPI was started.
  RunSettings settings = run_settings(options).value();
  Launch launch = Launch::begin(settings.wait);
  const Status json = launch.speaks() && !settings.dry_run ? check_json_path(settings.json) : success();
  if (any_error(launch, error_of(json))) return nullptr;
  auto dataset = load_dataset(settings.data);
  if (any_error(launch, error_of(dataset))) return nullptr;
  return std::make_unique<Setup>(Setup{std::move(settings), std::move(launch), std::move(dataset).value()});
}

Progress Setup::progress() const {
  if (!launch.speaks() || settings.progress_never) return Progress(Progress::When::never);
  return Progress(settings.progress_always ? Progress::When::always : Progress::When::automatic);
}

int Setup::show_dry_run(const std::vector<TrialConfig>& configs) const {
  if (!launch.speaks()) return kDone;
  nlohmann::json all = nlohmann::json::array();
  for (const TrialConfig& config : configs) {
    print(dry_run_text(launch, settings.model, config) + (configs.size() > 1 ? "\n" : ""),
          settings.json == "-");
    all.push_back(dry_run_json(launch, settings.model, config));
  }
  if (settings.json.empty()) return kDone;
  if (auto written = write_json(settings.json, configs.size() == 1 ? all.front() : all); !written) {
    print_error(written.error());
    return kUsage;
  }
  return kDone;
}

}  // namespace steelyard::cli
