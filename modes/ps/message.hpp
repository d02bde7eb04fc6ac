#pragma once

/// @file
/// What travels between workers and servers: a header, and the elements of a bundle.

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "src/base/aligned.hpp"
#include "src/base/types.hpp"
#include "src/collective/wire.hpp"

namespace steelyard::ps {

enum class Kind : std::uint32_t { push = 1, reply = 2 };

/// Flags of a push.
inline constexpr std::uint32_t kLast = 1;     ///< No push of this bundle follows from its worker.
inline constexpr std::uint32_t kNothing = 2;  ///< It carries no gradient and is not answered.
/// Of either: training ends early. A worker that reads so makes its next step its last.
inline constexpr std::uint32_t kStop = 4;
/// Of a reply: the push before it is no part of any update.
inline constexpr std::uint32_t kDropped = 8;

/// Stands before the elements of a bundle, in their message or, for a piece cut from a tensor, in one of its
/// own. One cache line, so that the elements behind it are aligned. Same byte order on every rank.
struct Header {
  Kind kind = Kind::push;
  BundleId bundle = 0;
  /// push: who sends, in the server's numbering of those who push to it; reply: whose push let it be
  /// answered.
  std::int32_t worker = -1;
  std::uint32_t flags = 0;
  Clock clock = 0;           ///< push: steps the worker has completed, this one included.
  std::int64_t version = 0;  ///< push: of the values that were read; reply: of those that follow.
  std::int64_t reserved[3] = {};
  std::uint64_t turn = 0;  ///< In a mailbox: how many have been put there, this one included.
};
static_assert(sizeof(Header) == 64 && std::is_trivially_copyable_v<Header>);

/// What one push or one reply of a bundle moves: payload, and messages.
struct Moved {
  std::size_t bytes = 0;
  std::uint32_t messages = 0;
};

/// Room for a header in an arena of floats.
inline constexpr std::size_t kHeaderElements = sizeof(Header) / sizeof(float);

/// @param slot begins with the header.
inline Header read_header(std::span<const float> slot) {
  Header header;
  std::memcpy(static_cast<void*>(&header), slot.data(), sizeof header);
  return header;
}
inline void write_header(const Header& header, std::span<float> slot) {
  std::memcpy(slot.data(), &header, sizeof header);
}

/// A push whose gradients travel in 16 bits: the header, then as many numbers, in whole cache lines.
inline std::size_t narrow_room_for(std::size_t elements) {
  return whole_lines<std::uint16_t>(sizeof(Header) / sizeof(std::uint16_t) + elements);
}
inline std::span<std::uint16_t> narrow_elements(std::span<std::uint16_t> message) {
  return message.subspan(sizeof(Header) / sizeof(std::uint16_t));
}

}  // namespace steelyard::ps
