#include "src/model/readers/keras.hpp"
#include "src/model/readers/readers.hpp"

namespace steelyard::readers {

Expected<InventoryFile> read_keras_h5(const std::string& path) {
  return read_keras_weights(path, [](const SourceFile& file) { return Expected<Extent>({0, file.size()}); });
}

}  // namespace steelyard::readers
