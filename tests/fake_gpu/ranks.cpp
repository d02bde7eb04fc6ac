#include "tests/fake_gpu/ranks.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace steelyard::fake_gpu {
namespace {

[[noreturn]] void be(Rank rank, const Variables& variables, const std::function<void(Rank&)>& test) {
  setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank.rank).c_str(), 1);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  int devices = 0;
  EXPECT_CUDA(cudaGetDeviceCount(&devices));
  EXPECT_CUDA(cudaSetDevice(rank.rank % devices));
  rank.stream = new_stream();
  test(rank);
  _exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
}

/// @return the signal that ended it, or 0.
int end_of(pid_t process) {
  constexpr int kMostMs = 60'000;
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  pollfd ended = {descriptor, POLLIN, 0};
  if (poll(&ended, 1, kMostMs) == 0) {
    ADD_FAILURE() << "a rank does not end";
    kill(process, SIGKILL);
  }
  close(descriptor);
  int status = 0;
  EXPECT_EQ(waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_SUCCESS);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

void Rank::join() {
  EXPECT_NCCL(ncclCommInitRank(&communicator, ranks, id, rank));
  EXPECT_EQ(state(), ncclSuccess);
}

ncclResult_t Rank::begin_to_join() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return ncclCommInitRankConfig(&communicator, ranks, id, rank, &config);
}

ncclResult_t Rank::state() const {
  ncclResult_t state = ncclInternalError;
  EXPECT_NCCL(ncclCommGetAsyncError(communicator, &state));
  return state;
}

std::vector<int> in_ranks(int ranks, const Variables& variables, const std::function<void(Rank&)>& test) {
  ncclUniqueId id;
  EXPECT_NCCL(ncclGetUniqueId(&id));
  std::vector<pid_t> processes;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t process = fork();
    if (process == 0) be({rank, ranks, id, nullptr, nullptr}, variables, test);
    processes.push_back(process);
  }
  std::vector<int> ends;
  for (const pid_t process : processes) ends.push_back(end_of(process));
  return ends;
}

}  // namespace steelyard::fake_gpu
