#pragma once

/// @file
/// The hash functions of published placements, modulo 2^64.

#include <cstdint>
#include <string_view>

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

/// Bernstein: h = 5381, then h = 33 h + byte.
std::uint64_t djb2(std::string_view text);
/// Of the sdbm library: h = 0, then h = byte + 64 h + 65536 h - h.
std::uint64_t sdbm(std::string_view text);

/// A hash of the key of a part, as BytePS has them.
using KeyHash = std::uint64_t(std::uint64_t key);
/// @param name djb2, sdbm (both of the key's decimal digits) or naive. Errors: others; built_in differs
/// between builds.
Expected<KeyHash*> find_key_hash(std::string_view name);

}  // namespace steelyard::ps
