// Compiled once for each reader of model files: STEELYARD_FUZZED names it.
#include <set>

#include "src/model/readers/builder.hpp"
#include "src/model/readers/readers.hpp"
#include "tests/fuzz/reader.hpp"

using namespace steelyard;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const fuzz::File file(bytes, count);
  const auto read = readers::STEELYARD_FUZZED(file.path());
  if (!read) {
    fuzz::require(!read.error().message.empty() && read.error().message.size() < 2000,
                  "an error is a sentence");
    fuzz::require(read.error().message.find('\n') == std::string::npos, "an error is one line");
    return 0;
  }
  const Inventory& inventory = read.value().inventory;
  fuzz::require(!inventory.empty() && inventory.size() == read.value().operations.size(),
                "tensors are there");
  std::set<std::string> names;
  for (const Tensor& tensor : inventory) {
    fuzz::require(names.insert(tensor.name).second && !tensor.name.empty(), "names are unique");
    const auto elements = readers::count_elements(tensor.shape);
    fuzz::require(elements && *elements > 0 && *elements == tensor.elements(), "shapes have elements");
    const Dtype* const dtype = dtype_named(tensor.dtype);
    fuzz::require(dtype != nullptr && dtype->bytes == tensor.element_bytes, "types are known");
  }
  fuzz::require(total_elements(inventory) <= readers::kMostElements, "the total is bounded");
  return 0;
}
