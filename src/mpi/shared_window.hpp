#pragma once

/// @file
/// Memory that the ranks of one node share.

#include <mpi.h>

#include <cstddef>
#include <span>

#include "src/mpi/communicator.hpp"

namespace steelyard::mpi {

/// Owns one allocation that every rank of a node reads and writes by plain loads and stores. What orders them
/// (atomics) is the user's business. Move-only.
class SharedWindow {
 public:
  /// Collective over `node`, whose ranks must share memory and which must outlive the window; the same
  /// `bytes` on every rank. The memory is zeroed and begins on a cache line. Each rank zeroes an equal part
  /// in rank order, so that its pages lie near that rank and are there before the first step. Dies where the
  /// memory cannot be had.
  SharedWindow(const Communicator& node, std::size_t bytes);

  SharedWindow(SharedWindow&& other) noexcept;
  SharedWindow& operator=(SharedWindow&& other) noexcept;
  /// Collective.
  ~SharedWindow();

  /// The whole allocation; at another address on every rank.
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::span<std::byte> bytes_;
};

}  // namespace steelyard::mpi
