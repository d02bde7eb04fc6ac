#pragma once

/// @file
/// Which option goes with which value of another: one that has no effect is refused on the command line, and
/// is no setting of a recorded trial.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steelyard::cli {

/// Value of an option; none where it may be any, as the mode in a comparison.
using ValueOf = std::function<std::optional<std::string>(std::string_view)>;

/// @return what the option lacks to have an effect, as "--consistency asp or ssp"; "" if it has one.
std::string lacks(std::string_view option, const ValueOf& value_of);

/// Options that depend on this one, or on one that does.
std::vector<std::string> dependents(std::string_view name);

}  // namespace steelyard::cli
