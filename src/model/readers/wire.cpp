#include "src/model/readers/wire.hpp"

namespace steelyard::readers {

std::optional<std::uint8_t> WireInput::byte(std::size_t position) {
  if (position < begin_ || position >= end_) {
    begin_ = position;
    end_ = position + file_.read_at(position, piece_);
    if (position >= end_) return std::nullopt;
  }
  return static_cast<std::uint8_t>(piece_[position - begin_]);
}

std::optional<std::uint64_t> WireMessage::fail() {
  broken_ = true;
  return std::nullopt;
}

std::optional<std::uint64_t> WireMessage::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position_ >= end_) return fail();
    const auto byte = input_->byte(position_);
    if (!byte) return fail();
    ++position_;
    value |= static_cast<std::uint64_t>(*byte & 0x7FU) << shift;
    if ((*byte & 0x80U) == 0) return value;
  }
  return fail();
}

std::optional<WireField> WireMessage::next() {
  if (broken_ || at_end()) return std::nullopt;
  const auto tag = varint();
  if (!tag) return std::nullopt;
  constexpr std::uint64_t kMostNumber = (std::uint64_t{1} << 29U) - 1;
  WireField field{static_cast<std::uint32_t>(*tag >> 3U), static_cast<std::uint32_t>(*tag & 7U)};
  broken_ = *tag >> 3U == 0 || *tag >> 3U > kMostNumber;
  std::optional<std::uint64_t> length = 0;
  switch (field.kind) {
    case 0: {
      const auto value = varint();
      if (value) field.value = *value;
      break;
    }
    case 1:
      length = 8;
      break;
    case 2:
      length = varint();
      break;
    case 5:
      length = 4;
      break;
    default:
      broken_ = true;  // Groups were never part of ONNX.
  }
  if (broken_ || !length || *length > end_ - position_) {
    broken_ = true;
    return std::nullopt;
  }
  field.begin = position_;
  position_ += *length;
  field.end = position_;
  return field;
}

}  // namespace steelyard::readers
