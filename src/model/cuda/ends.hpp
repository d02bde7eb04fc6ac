#pragma once

#include "src/model/chain.hpp"

namespace steelyard {

/// Features from pinned memory, the loss into pinned memory: the host waits for an event once per pass.
std::unique_ptr<ChainEnds> make_device_ends(const ChainShape& shape, std::size_t max_batch,
                                            const cuda::Stream& stream);

}  // namespace steelyard
