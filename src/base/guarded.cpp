#include "src/base/guarded.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

namespace steelyard {
namespace {

constexpr int kOutOfMemory = 3;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// Address sanitizer maps terabytes, so that no limit of memory can be set beside it.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kMemoryCanBeLimited = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kMemoryCanBeLimited = false;
#else
constexpr bool kMemoryCanBeLimited = true;
#endif
#else
constexpr bool kMemoryCanBeLimited = true;
#endif

void limit(int resource, std::size_t most, std::size_t hard) {
  const struct rlimit both { most, hard };
  ::setrlimit(static_cast<decltype(RLIMIT_AS)>(resource), &both);
}

void confine(const GuardLimits& limits) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  for (const int signal :
       {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGXCPU})
    ::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0, 0);
  const auto work = static_cast<std::size_t>(limits.processor_seconds);
  limit(RLIMIT_CPU, work, work + 1);  // The first of the two sends SIGXCPU, which tells why.
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + limits.memory_bytes;
  if (kMemoryCanBeLimited) limit(RLIMIT_AS, most, most);
}

/// The child's whole life. It ends without running what was registered for the end of its parent.
[[noreturn]] void serve(int pipe, const std::function<std::string()>& work, const GuardLimits& limits) {
  confine(limits);
  try {
    const std::string result = work();
    std::size_t done = 0;
    while (done < result.size()) {
      const ssize_t written = ::write(pipe, result.data() + done, result.size() - done);
      if (written <= 0) ::_exit(1);
      done += static_cast<std::size_t>(written);
    }
  } catch (const std::bad_alloc&) {
    ::_exit(kOutOfMemory);
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

enum class End { closed, too_late, too_long };

/// Reads until the child closes its end.
End collect(int pipe, std::string& result, const GuardLimits& limits) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(limits.seconds);
  std::array<char, 1U << 16U> piece{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    struct pollfd wait {
      pipe, POLLIN, 0
    };
    const int ready = left > 0 ? ::poll(&wait, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return End::too_late;
    const ssize_t got = ::read(pipe, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return End::closed;
    result.append(piece.data(), static_cast<std::size_t>(got));
    if (result.size() > limits.result_bytes) return End::too_long;
  }
}

std::string how_it_ended(int status, const GuardLimits& limits) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return "took more than " + std::to_string(limits.processor_seconds) + " s of work";
  if (WIFSIGNALED(status)) return "crashed (signal " + std::to_string(WTERMSIG(status)) + ")";
  if (WEXITSTATUS(status) == kOutOfMemory) return "needs too much memory";
  return "failed (exit code " + std::to_string(WEXITSTATUS(status)) + ")";
}

}  // namespace

Expected<std::string> run_guarded(const std::function<std::string()>& work, const GuardLimits& limits) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{std::string("got no pipe: ") + std::strerror(errno)};
  Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Error{std::string("got no process: ") + std::strerror(errno)};
  if (child == 0) serve(out.number(), work, limits);
  out.close();
  std::string result;
  const End end = collect(in.number(), result, limits);
  if (end != End::closed) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (end == End::too_late) return Error{"took longer than " + std::to_string(limits.seconds) + " s"};
  if (end == End::too_long)
    return Error{"has more than " + std::to_string(limits.result_bytes) + " bytes of names"};
  if (status != 0) return Error{how_it_ended(status, limits)};
  return result;
}

}  // namespace steelyard
