#include "src/base/log.hpp"

#include <cstdio>
#include <utility>

namespace steelyard {
namespace {
std::string& log_name() {
  static std::string name;
  return name;
}
}  // namespace

void set_log_name(std::string name) { log_name() = std::move(name); }

void warn(std::string_view text) {
  const std::string& name = log_name();
  std::fprintf(stderr, "%s%s%swarning: %.*s\n", name.empty() ? "" : "[", name.c_str(),
               name.empty() ? "" : "] ", static_cast<int>(text.size()), text.data());
}

}  // namespace steelyard
