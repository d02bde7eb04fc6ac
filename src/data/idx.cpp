#include "src/data/idx.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace steelyard {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 34U;
constexpr std::size_t kPiece = std::size_t{1} << 20U;

struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};
using File = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseFile>;

Error wrong(const std::string& path, const std::string& why) {
  return Error{"data file " + path + ": " + why};
}

/// Appends up to `wanted` bytes in pieces, so that a lying header costs no memory before the data runs out.
Status read_bytes(const std::string& path, gzFile file, std::size_t wanted,
                  std::vector<std::uint8_t>& bytes) {
  const std::size_t end = bytes.size() + wanted;
  while (bytes.size() < end) {
    const std::size_t begin = bytes.size();
    const std::size_t piece = std::min(kPiece, end - begin);
    bytes.resize(begin + piece);
    const int got = gzread(file, bytes.data() + begin, static_cast<unsigned>(piece));
    int code = Z_OK;
    gzerror(file, &code);
    if (got < 0 || code != Z_OK) return wrong(path, "the gzip data is corrupt or ends early");
    if (static_cast<std::size_t>(got) < piece)
      return wrong(path, "truncated: " + std::to_string(begin + static_cast<std::size_t>(got)) + " of " +
                             std::to_string(end) + " bytes of this part are there");
  }
  return success();
}

Expected<std::vector<std::size_t>> read_shape(const std::string& path, gzFile file, std::size_t axes) {
  std::vector<std::uint8_t> head;
  if (auto read = read_bytes(path, file, 4 + 4 * axes, head); !read) return read.error();
  if (head[0] != 0 || head[1] != 0 || head[2] != 0x08 || head[3] != axes)
    return wrong(path,
                 "not an IDX file of bytes with " + std::to_string(axes) + (axes == 1 ? " axis" : " axes"));
  std::vector<std::size_t> shape;
  std::size_t total = 1;
  for (std::size_t i = 0; i < axes; ++i) {
    std::size_t size = 0;
    for (std::size_t j = 0; j < 4; ++j) size = size << 8U | head[4 + 4 * i + j];
    if (size == 0 || size > kMostBytes / total)
      return wrong(path, "axis " + std::to_string(i) + " has the size " + std::to_string(size) +
                             "; allowed are 1 to 2^34 bytes in all");
    total *= size;
    shape.push_back(size);
  }
  return shape;
}

/// After the last byte nothing follows, and the checksum of gzip is there and right.
Status check_end(const std::string& path, gzFile file, std::size_t total) {
  std::uint8_t more = 0;
  const int got = gzread(file, &more, 1);
  int code = Z_OK;
  gzerror(file, &code);
  if (got > 0) return wrong(path, "data goes on after the last of its " + std::to_string(total) + " bytes");
  if (got < 0 || code != Z_OK) return wrong(path, "the gzip data is corrupt or ends early");
  return success();
}

}  // namespace

Expected<IdxArray> read_idx(const std::string& path, std::size_t axes) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return wrong(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return wrong(path, "not a regular file");
  const File file(gzopen(path.c_str(), "rb"));
  if (!file) return wrong(path, std::strerror(errno));

  auto shape = read_shape(path, file.get(), axes);
  if (!shape) return shape.error();
  std::size_t total = 1;
  for (const std::size_t size : shape.value()) total *= size;
  IdxArray array{std::move(shape).value(), {}};
  if (auto read = read_bytes(path, file.get(), total, array.bytes); !read) return read.error();
  if (auto end = check_end(path, file.get(), total); !end) return end.error();
  return array;
}

Expected<Samples> read_idx_samples(const std::string& images, const std::string& labels) {
  auto pixels = read_idx(images, 3);
  if (!pixels) return pixels.error();
  auto classes = read_idx(labels, 1);
  if (!classes) return classes.error();
  const auto& shape = pixels.value().shape;
  if (shape[0] != classes.value().shape[0])
    return Error{"data files " + images + " and " + labels +
                 " do not belong together: " + std::to_string(shape[0]) + " images, " +
                 std::to_string(classes.value().shape[0]) + " labels"};
  return Samples{shape[0], shape[1] * shape[2], std::move(pixels.value().bytes),
                 std::move(classes.value().bytes)};
}

}  // namespace steelyard
