#include <fmt/format.h>

#include <filesystem>

#include "src/cli/commands.hpp"
#include "src/cli/console.hpp"
#include "src/cli/export/selection.hpp"

namespace steelyard::cli {
namespace {

struct Format {
  const char* option;
  Status (*write)(const ExportedRun& run, const std::string& path);
};
constexpr Format kFormats[] = {{"perfetto", write_perfetto}, {"csv", write_csv}, {"otf2", write_otf2}};

/// What can be known before anything is written.
Status check_targets(const Options& options) {
  bool any = false;
  for (const Format& format : kFormats) {
    const std::string& path = options.text(format.option);
    if (path.empty()) continue;
    any = true;
    std::error_code ignored;
    if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
      return Error{fmt::format("--{} '{}': exists already; export overwrites nothing", format.option, path)};
  }
  if (!any)
    return Error{
        "export needs a format: --perfetto FILE, --csv DIRECTORY or --otf2 DIRECTORY, or several of them"};
  return options.text("otf2").empty() ? success() : otf2_available();
}

}  // namespace

int export_run(const Options& options) {
  if (auto good = check_targets(options); !good) {
    print_error(good.error());
    return kUsage;
  }
  const auto run = open_exported(options);
  if (!run) {
    print_error(run.error());
    return kUsage;
  }
  for (const Format& format : kFormats) {
    const std::string& path = options.text(format.option);
    if (path.empty()) continue;
    if (auto written = format.write(run.value(), path); !written) {
      print_error(Error{fmt::format("--{} '{}': {}", format.option, path, written.error().message)});
      return kFailed;
    }
    print(line_text(format.option, path), false);
  }
  return kDone;
}

}  // namespace steelyard::cli
