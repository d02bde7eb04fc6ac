// Hostile files, made by hand or found by the fuzzers: tests/fuzz/hostile/<reader>/<file>. No reader may end
// the program on one; those whose name begins with "refused-" it must refuse.
#include <gtest/gtest.h>

#include <map>

#include "src/data/idx.hpp"
#include "src/model/readers/readers.hpp"
#include "tests/support/model_file.hpp"

namespace steelyard {
namespace {

const std::map<std::string, readers::ReadFile*> kReaders = {
#define READER(format, ending, help) {#format, readers::read_##format},
#include "src/model/readers/readers.def"
#undef READER
};

TEST(HostileFiles, AreAnsweredWithOneSentenceOrAnInventory) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(STEELYARD_HOSTILE_FILES)) {
    if (!entry.is_regular_file() || entry.path().filename() == "README.md") continue;
    ++count;
    const std::string reader = entry.path().parent_path().filename();
    SCOPED_TRACE(entry.path());
    if (reader == "idx") {  // The fuzzer's first byte is not the file's.
      const test::ModelFile file(test::bytes_of(entry.path()).substr(1), ".idx");
      for (std::size_t axes = 1; axes <= 4; ++axes) EXPECT_FALSE(read_idx(file.path(), axes));
      continue;
    }
    const auto read = kReaders.at(reader)(entry.path().string());
    if (read) {
      EXPECT_FALSE(entry.path().filename().string().starts_with("refused-"));
      continue;
    }
    EXPECT_LT(read.error().message.size(), 2000U);
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
  }
  EXPECT_GT(count, 0U);
}

}  // namespace
}  // namespace steelyard
