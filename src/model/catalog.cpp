#include <algorithm>

#include "src/base/catalog.hpp"
#include "src/model/model.hpp"

namespace steelyard {

using DescribeModel = Expected<ModelSpec>(std::string_view arguments);

#define MODEL(file, name, help) DescribeModel describe_##file;
#include "src/model/models.def"
#undef MODEL

namespace {
constexpr Choice<DescribeModel> kRows[] = {
#define MODEL(file, name, help) {name, help, describe_##file},
#include "src/model/models.def"
#undef MODEL
};
}  // namespace

Expected<ModelSpec> describe_model(std::string_view name) {
  const std::size_t colon = name.find(':');
  auto describe = choose<DescribeModel>("model", kRows, name.substr(0, colon));
  if (!describe) return describe.error();
  auto spec = describe.value()(colon == std::string_view::npos ? "" : name.substr(colon + 1));
  if (spec) spec.value().name = name;
  return spec;
}

bool is_model_kind(std::string_view kind) {
  return std::ranges::any_of(kRows, [kind](const Choice<DescribeModel>& row) { return row.name == kind; });
}

std::string model_help() { return help<DescribeModel>(kRows); }

}  // namespace steelyard
