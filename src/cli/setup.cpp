#include "src/cli/setup.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "kernels/instructions.hpp"
#include "src/cli/dry_run.hpp"
#include "src/cli/lab.hpp"
#include "src/cli/output_file.hpp"
#include "src/cli/report.hpp"
#include "src/cuda/device.hpp"

namespace steelyard::cli {
namespace {

template <typename T>
std::optional<Error> error_of(const Expected<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

/// Collective: `auto` is the best set that every rank has. Replicas that round differently would drift apart.
std::optional<Error> choose_instructions(const Launch& launch, const std::string& name) {
  const auto sets = kernels::instruction_sets();
  const auto found = name == "auto" ? sets.end() - 1 : std::ranges::find(sets, name);
  const auto index = mpi::greatest(launch.world, sets.begin() - found);
  if (found == sets.end())
    return Error{fmt::format("--instructions '{}': choose auto or one of those that run here: {}", name,
                             fmt::join(sets, ", "))};
  kernels::use_instruction_set(static_cast<std::size_t>(-index));
  return std::nullopt;
}

/// Collective. @return whether rank 0 has said why there is none.
bool lacks_device(Launch& launch, const std::string& name) {
  if (name == "cpu") return false;
  const auto device = cuda::take_device(launch.topology.local_rank);
  if (any_error(launch,
                device ? std::nullopt : std::optional(Error{"--device cuda: " + device.error().message})))
    return true;
  launch.topology.note_gpus(launch.world, device.value().bus);
  return false;
}

/// Collective: rank 0 knows of the lab, each rank of what stands in for its GPU.
Validity validity_of(const Launch& launch, const RunSettings& settings, const Options& options) {
  const mpi::Topology& topology = launch.topology;
  Validity validity;
  validity.nodes = topology.nodes;
  validity.emulated_compute = settings.model.replay;
  // Sleeping ranks leave the cores to the others.
  validity.oversubscribed =
      topology.oversubscribed && (!settings.model.replay || options.text("compute") == "quota");
  validity.shaped_links = mpi::greatest(launch.world, has_shaped_links(launch.lab) ? 1 : 0) != 0;
  const bool stands_in = dlsym(RTLD_DEFAULT, "steelyard_fake_gpu") != nullptr;
  validity.fake = mpi::greatest(launch.world, stands_in ? 1 : 0) != 0;
  validity.one_node = topology.machines == 1 && !validity.shaped_links;
  return validity;
}

}  // namespace

std::unique_ptr<Setup> Setup::begin(const Options& options) {
  // main() has checked them before MPI was started.
  RunSettings settings = run_settings(options).value();
  Launch launch = Launch::begin(settings.wait);
  if (any_error(launch, choose_instructions(launch, settings.instructions))) return nullptr;
  if (lacks_device(launch, settings.device)) return nullptr;
  const Status json = launch.speaks() ? check_path("json", settings.json) : success();
  if (any_error(launch, error_of(json))) return nullptr;
  auto lab = launch.speaks() ? read_lab() : Expected<nlohmann::json>(nullptr);
  if (any_error(launch, error_of(lab))) return nullptr;
  launch.lab = std::move(lab).value();
  launch.validity = validity_of(launch, settings, options);
  // Ranks whose compute sleeps leave the cores idle; waiting must not fill them.
  if (settings.wait == "auto" && settings.model.replay && launch.wait == mpi::Wait::yield &&
      options.text("compute") == "sleep")
    launch.wait = mpi::Wait::sleep;
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
    print(dry_run_text(launch, settings, config) + (configs.size() > 1 ? "\n" : ""), settings.json == "-");
    all.push_back(dry_run_json(launch, settings.model, config));
  }
  if (settings.json.empty()) return kDone;
  if (auto written = write_json(settings.json, configs.size() == 1 ? all.front() : all); !written) {
    print_error(written.error());
    return kFailed;
  }
  return kDone;
}

}  // namespace steelyard::cli
