#include <fmt/format.h>

#include <filesystem>

#include "src/cli/collection_report.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/console.hpp"
#include "src/cli/output_file.hpp"
#include "src/cli/rating.hpp"
#include "src/cli/report.hpp"

namespace steelyard::cli {
namespace {

Status check_outputs(const Options& options) {
  for (const char* name : {"json", "csv"})
    if (auto good = check_path(name, options.text(name)); !good) return good;
  if (options.text("json") == "-" && options.text("csv") == "-")
    return Error{"--json - and --csv -: standard output holds one of them"};
  std::error_code ignored;
  const std::string& hdf5 = options.text("hdf5");
  if (!hdf5.empty() && std::filesystem::exists(hdf5, ignored))
    return Error{fmt::format("--hdf5 '{}': exists already; give another name", hdf5)};
  return success();
}

Status write_outputs(const Options& options, const Collection& collection,
                     const trace::CollectionTables& tables) {
  if (const std::string& path = options.text("json"); !path.empty())
    if (auto written = write_json(path, collection_json(collection, tables)); !written) return written;
  if (const std::string& path = options.text("csv"); !path.empty())
    if (auto written = write_text("csv", path, collection_csv(collection, tables)); !written) return written;
  const std::string& path = options.text("hdf5");
  return path.empty() ? success() : trace::write_collection(path, tables);
}

}  // namespace

int collect(const Options& options) {
  const auto price = parse_price(options.text("price"));
  if (!price) {
    print_error(price.error());
    return kUsage;
  }
  if (auto good = check_outputs(options); !good) {
    print_error(good.error());
    return kUsage;
  }
  const Collection collection = collect_runs(options.targets, price.value());
  for (const Remark& one : collection.remarks)
    print_error(Error{one.text.find(one.path) != std::string::npos
                          ? one.text
                          : fmt::format("'{}' {}", one.path, one.text)});
  if (collection.trials.empty()) {
    print_error(Error{"nothing to collect: no run directory with results is among what was named"});
    return kUsage;
  }
  const trace::CollectionTables tables = collection_tables(collection);
  print(collection_text(collection, tables), options.text("json") == "-" || options.text("csv") == "-");
  if (auto written = write_outputs(options, collection, tables); !written) {
    print_error(written.error());
    return kFailed;
  }
  return kDone;
}

}  // namespace steelyard::cli
