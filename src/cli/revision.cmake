# Run at every build. The header is written only where the checkout has another revision than it says.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(CONFIGURE OUTPUT ${HEADER} @ONLY CONTENT [[
#pragma once

namespace steelyard::cli {

inline constexpr const char* kRevision = "@REVISION@";

}  // namespace steelyard::cli
]])
