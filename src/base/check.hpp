#pragma once

/// @file
/// Fail-fast: a broken invariant or a failed library call ends the whole job.

#include <cstdint>
#include <string_view>

namespace steelyard {

/// Call site. (std::source_location is missing from clang-tidy 14.)
struct Where {
  const char* file = __builtin_FILE();
  int line = __builtin_LINE();
};

/// Prints `what` and the call site on stderr, then aborts every rank with exit code 1. Never unwinds: a
/// destructor that frees a communicator could wait for ranks that are not failing.
[[noreturn]] void die(std::string_view what, Where where = {}) noexcept;

/// States something that must hold; `what` says it in words.
inline void require(bool holds, std::string_view what, Where where = {}) {
  if (!holds) die(what, where);
}

/// From now on `die` says this step too; negative: none.
void set_step_of_messages(std::int64_t step) noexcept;

/// How `die` names this process ("rank 3") and ends its peers. The MPI layer sets it once it is up.
struct Abort {
  int rank = -1;
  void (*end_job)() = nullptr;  ///< Does not return.
};
void set_abort(Abort abort) noexcept;

}  // namespace steelyard
