#pragma once

/// @file
/// Operations of NCCL as a ring carries them out, in the thread of a stream.

#include <cstddef>
#include <span>

#include "tests/support/fake_gpu/communicator.hpp"

namespace steelyard::fake_gpu {

enum class Call { all_reduce, reduce_scatter, all_gather, broadcast, send, receive };

struct Operation {
  Call call = Call::all_reduce;
  ncclDataType_t type = ncclInt8;
  std::size_t count = 0;  ///< As the caller of NCCL says it.
  int root = 0;           ///< Or the peer of send and receive.
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
};

const char* name_of(Call call);
bool is_between_two(Call call);

/// Bytes of an element; other types are refused.
std::size_t bytes_of(ncclDataType_t type);

/// Elements at `in` and `out`; 0 where the operation has none.
std::size_t elements_in(const Operation& operation, const Communicator& communicator);
std::size_t elements_out(const Operation& operation, const Communicator& communicator);

/// Blocks until it is done on this rank, or the communicator is aborted. A chunk's sum begins with the rank
/// whose number it has (of reduce_scatter: the next one) and goes round the ring, each adding its own.
void carry_out(const Communicator& communicator, const Operation& operation);
/// Sends and receives of one group, all at once.
void carry_out(const Communicator& communicator, std::span<const Operation> operations);

}  // namespace steelyard::fake_gpu
