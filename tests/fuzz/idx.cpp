#include "src/data/idx.hpp"

#include "tests/fuzz/reader.hpp"

using namespace steelyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  if (count == 0) return 0;
  const fuzz::File file(bytes + 1, count - 1);
  const std::size_t axes = 1 + bytes[0] % 4;  // The first byte says how many are asked for.
  const auto read = read_idx(file.path(), axes);
  if (!read) {
    fuzz::require(!read.error().message.empty(), "an error says why");
    return 0;
  }
  std::size_t total = 1;
  for (const std::size_t size : read.value().shape) total *= size;
  fuzz::require(read.value().shape.size() == axes && read.value().bytes.size() == total,
                "bytes fill the shape");
  return 0;
}
