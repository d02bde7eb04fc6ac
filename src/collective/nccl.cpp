#include <nccl.h>

#include "src/base/check.hpp"
#include "src/collective/nccl.hpp"

namespace steelyard {

std::string nccl_text() {
  int version = 0;
  const ncclResult_t result = ncclGetVersion(&version);
  require(result == ncclSuccess, std::string("ncclGetVersion: ") + ncclGetErrorString(result));
  // As NCCL_VERSION of its header packs it since 2.9.
  return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace steelyard
