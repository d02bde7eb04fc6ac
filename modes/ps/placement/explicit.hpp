#pragma once

/// @file
/// Explicit placements: the format of their files.
///
///     # the first line whose pattern matches a tensor decides
///     conv*            0            pattern (of the shell: * ? [..], \ before a literal one), server
///     fc1.weight       0:24000  0   elements [begin, end) of it; all lines of that pattern together hold
///     fc1.weight   24000:48000  1   every element once
///     fallback striped              by which strategy the tensors are placed that no line matches
///
/// The last words of a line are the server and, before it, the elements; the pattern may hold blanks. A '#'
/// begins a comment where it begins the line.

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

/// @return the text of a file that gives this placement back. Lines in the order of the shards.
std::string explicit_rules(const Inventory& inventory, std::span<const Shard> shards);

}  // namespace steelyard::ps
