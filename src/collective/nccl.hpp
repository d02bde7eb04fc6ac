#pragma once

#include <string>

namespace steelyard {

/// "NCCL 2.28.9", of the library that is loaded; "" in a build without CUDA.
std::string nccl_text();

}  // namespace steelyard
