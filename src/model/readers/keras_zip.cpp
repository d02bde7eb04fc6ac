#include <minizip/unzip.h>

#include <memory>

#include "src/model/readers/keras.hpp"
#include "src/model/readers/readers.hpp"

namespace steelyard::readers {
namespace {

constexpr const char* kWeights = "model.weights.h5";

struct CloseZip {
  void operator()(void* zip) const { unzClose(zip); }
};

/// Where the weights stand in the archive. Keras stores them as they are; compressed ones are refused, so
/// that no archive can grow.
Expected<Extent> locate(const SourceFile& file) {
  const std::unique_ptr<void, CloseZip> zip(unzOpen64(file.path().c_str()));
  if (!zip) return Error{"is no zip archive, as .keras files are; files of Keras 2 end in .h5"};
  unz_file_info64 info{};
  if (unzLocateFile(zip.get(), kWeights, 1) != UNZ_OK ||
      unzGetCurrentFileInfo64(zip.get(), &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK)
    return Error{std::string("has no ") + kWeights + " in its archive"};
  if (info.compression_method != 0 || info.compressed_size != info.uncompressed_size || (info.flag & 1U) != 0)
    return Error{std::string("has its ") + kWeights +
                 " compressed, which Keras does not do; unpack it and give that .h5 file"};
  int method = 0;
  int level = 0;
  if (unzOpenCurrentFile2(zip.get(), &method, &level, 1) != UNZ_OK)
    return Error{std::string("has an archive whose ") + kWeights + " cannot be opened"};
  const std::size_t begin = unzGetCurrentFileZStreamPos64(zip.get());
  if (begin > file.size() || info.uncompressed_size > file.size() - begin)
    return Error{std::string("ends before the end of its ") + kWeights};
  return Extent{begin, info.uncompressed_size};
}

}  // namespace

Expected<InventoryFile> read_keras_zip(const std::string& path) { return read_keras_weights(path, locate); }

}  // namespace steelyard::readers
