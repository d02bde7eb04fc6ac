#pragma once

/// @file
/// Protocol Buffers' wire format, field by field, out of a file that is not read whole: what is not asked
/// for, such as gigabytes of values, is passed over by adding to the position.
/// https://protobuf.dev/programming-guides/encoding

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "src/model/readers/source_file.hpp"

namespace steelyard::readers {

/// Bytes of a file, read in small pieces as a position moves over them.
class WireInput {
 public:
  explicit WireInput(const SourceFile& file) : file_(file) {}
  std::size_t size() const { return file_.size(); }
  /// @return the byte, or nothing where the file has none.
  std::optional<std::uint8_t> byte(std::size_t position);
  const SourceFile& file() const { return file_; }

 private:
  const SourceFile& file_;
  std::array<char, 4096> piece_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

struct WireField {
  std::uint32_t number = 0;
  std::uint32_t kind = 0;   ///< 0 varint, 1 eight bytes, 2 counted bytes, 5 four bytes.
  std::uint64_t value = 0;  ///< Of a varint.
  std::size_t begin = 0;    ///< Of the bytes, other kinds.
  std::size_t end = 0;
};

/// A message: the fields in the bytes [begin, end).
class WireMessage {
 public:
  WireMessage(WireInput& input, std::size_t begin, std::size_t end)
      : input_(&input), position_(begin), end_(end) {}
  /// @return the next field; nothing at the end, and where the bytes are no message: then broken() is true.
  std::optional<WireField> next();
  /// The next number of packed varints, in a message made of the bytes of such a field.
  std::optional<std::uint64_t> varint();
  bool at_end() const { return position_ == end_; }
  bool broken() const { return broken_; }

 private:
  std::optional<std::uint64_t> fail();

  WireInput* input_;
  std::size_t position_;
  std::size_t end_;
  bool broken_ = false;
};

}  // namespace steelyard::readers
