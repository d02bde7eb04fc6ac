#pragma once

/// @file
/// Owning wrappers for MPI. `<mpi.h>` is included only below src/mpi and src/collective.

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/base/check.hpp"
#include "src/base/expected.hpp"
#include "src/base/types.hpp"

namespace steelyard::mpi {

/// Dies with MPI's own text unless `code` is MPI_SUCCESS.
void check(int code, Where where = {});

/// @return `size` as an MPI count; dies where it does not fit an int.
int count(std::size_t size, Where where = {});

/// Messages of up to this, MPI's own header included, leave at once over TCP. Larger ones wait until the
/// receiver has answered from inside MPI, and a rank that computes does so rarely.
inline constexpr std::size_t kEagerBytes = std::size_t{256} << 10U;

/// MPI from construction to destruction. Exactly one, first local of main(). Asks Open MPI for kEagerBytes
/// unless the user has set a limit (btl_tcp_eager_limit).
class Environment {
 public:
  /// Asks for MPI_THREAD_FUNNELED: one thread of a rank makes every MPI call.
  Environment(int& argc, char**& argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

/// First line of the MPI library's own version text.
std::string library_version();

/// Owns one communicator. Move-only, because a copy would be a hidden collective call.
class Communicator {
 public:
  /// Collective: a private copy of the world.
  static Communicator duplicate_world();
  /// Collective over this: ranks of equal `color` share a communicator, ordered by rank. A negative color
  /// leaves the rank out: its result is empty.
  Communicator split(int color) const;
  /// Collective over this: the ranks that share memory with the caller.
  Communicator split_by_node() const;
  Communicator duplicate() const;

  Communicator(Communicator&& other) noexcept;
  Communicator& operator=(Communicator&& other) noexcept;
  ~Communicator();

  bool empty() const noexcept { return comm_ == MPI_COMM_NULL; }
  Rank rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  MPI_Comm native() const noexcept { return comm_; }

 private:
  explicit Communicator(MPI_Comm adopted);

  MPI_Comm comm_ = MPI_COMM_NULL;
  Rank rank_ = 0;
  int size_ = 0;
};

/// Collective: the error of the lowest rank that has one, on every rank; nothing where none has. The text
/// names the rank when it is not rank 0.
std::optional<Error> agree(const Communicator& ranks, const std::optional<Error>& mine);

/// Collective: `text` of `root` on every rank.
std::string broadcast(const Communicator& ranks, std::string text, Rank root);
/// Collective: overwrites `bytes` with those of `root`; the same size on every rank.
void broadcast(const Communicator& ranks, std::span<std::byte> bytes, Rank root);

/// Collective: every rank's `bytes` become the bitwise or of all ranks'; the same size on every rank.
void merge_bits(const Communicator& ranks, std::span<std::byte> bytes);

/// Collective: every rank's `bytes`, concatenated in rank order on `root`, empty elsewhere.
/// @param[out] sizes on `root`, bytes of each rank.
std::vector<std::byte> gather(const Communicator& ranks, std::span<const std::byte> bytes, Rank root,
                              std::vector<std::size_t>& sizes);

/// Collective: whether some of `ranks` share no memory with others.
bool spans_nodes(const Communicator& ranks);

/// Collective: sum of `value` over all ranks, in rank order, on every rank.
double sum(const Communicator& ranks, double value);
/// Collective: greatest `value`, on every rank.
std::int64_t greatest(const Communicator& ranks, std::int64_t value);

}  // namespace steelyard::mpi
