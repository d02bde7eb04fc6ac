#include "src/base/check.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace steelyard {
namespace {

Abort g_abort;
std::int64_t g_step = -1;

const char* below_sources(const char* file) {
  for (const char* top : {"/src/", "/modes/", "/kernels/", "/tests/"})
    if (const char* found = std::strstr(file, top)) return found + 1;
  return file;
}

}  // namespace

void set_abort(Abort abort) noexcept { g_abort = abort; }

void set_step_of_messages(std::int64_t step) noexcept { g_step = step; }

void die(std::string_view what, Where where) noexcept {
  if (g_abort.rank >= 0) {
    std::fprintf(stderr, "[rank %d", g_abort.rank);
    if (g_step >= 0) std::fprintf(stderr, ", step %lld", static_cast<long long>(g_step));
    std::fputs("] ", stderr);
  }
  std::fprintf(stderr, "steelyard: %.*s (%s:%d)\n", static_cast<int>(what.size()), what.data(),
               below_sources(where.file), where.line);
  std::fflush(stderr);
  if (g_abort.end_job != nullptr) g_abort.end_job();
  std::_Exit(1);
}

}  // namespace steelyard
