#pragma once

/// @file
/// `[rank 3 server 1] ...` on stderr: information from rank 0, warnings from any rank, nothing per step.

#include <string>
#include <string_view>

namespace steelyard {

/// Who speaks, for example "rank 3 server 1"; empty before the roles are known.
void set_log_name(std::string name);
void warn(std::string_view text);

}  // namespace steelyard
