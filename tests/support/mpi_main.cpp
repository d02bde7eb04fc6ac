// GoogleTest on every rank of a launch. Only rank 0 prints successes; every rank prints its failures; the
// exit code is the greatest over ranks.
#include <gtest/gtest.h>

#include <cstdio>

#include "kernels/gemm.hpp"
#include "src/mpi/communicator.hpp"

namespace {

/// Prints failures with the rank before them.
class FailuresOnly final : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "[rank %d] %s:%d: %s\n", rank_, result.file_name(), result.line_number(),
                   result.message());
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  steelyard::kernels::use_one_thread();
  const steelyard::mpi::Environment environment(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const auto world = steelyard::mpi::Communicator::duplicate_world();
  if (world.rank() != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(world.rank()));
  }
  const int mine = RUN_ALL_TESTS();
  return static_cast<int>(steelyard::mpi::greatest(world, mine));
}
