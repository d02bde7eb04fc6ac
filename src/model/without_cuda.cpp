#include "src/base/check.hpp"
#include "src/model/chain.hpp"
#include "src/model/device.hpp"

namespace steelyard {
namespace {

/// Nobody has a stream here.
[[noreturn]] void no_cuda() { die("a model on a GPU in a program built without CUDA"); }

}  // namespace

ChainParts make_device_parts(const ChainShape&, std::size_t, const cuda::Stream&) { no_cuda(); }
std::unique_ptr<RemoteMemory> make_device_memory(const cuda::Stream&) { no_cuda(); }
std::unique_ptr<Model> make_device_replay(const ModelRequest&, ComputePlan) { no_cuda(); }

}  // namespace steelyard
