#pragma once

/// @file
/// Short clips of garments that move. A clip is kept as a plan of a few bytes and drawn when it is needed:
/// 18,432 clips would be 604 MB, their plans are 0.5 MB beside the images that they share.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace steelyard {

inline constexpr std::size_t kClipFrames = 8;
inline constexpr std::size_t kClipSide = 64;                        ///< Pixels of a frame, either way.
inline constexpr std::size_t kGarmentSide = 28;                     ///< Pixels of a garment, either way.
inline constexpr std::size_t kClipRoom = kClipSide - kGarmentSide;  ///< The last place of a garment's edge.
inline constexpr std::size_t kClipBytes = kClipSide * kClipSide * kClipFrames;
inline constexpr std::size_t kGarmentBytes = kGarmentSide * kGarmentSide;

/// One garment on its way. Edges are the upper and the left one.
struct MovingGarment {
  std::uint32_t image = 0;
  std::uint8_t x = 0, y = 0;   ///< Edges in the first frame, up to kClipRoom.
  std::int8_t dx = 0, dy = 0;  ///< Pixels per frame, not both 0.
};

struct Clip {
  std::array<MovingGarment, 3> garments{};
  std::uint8_t count = 0;  ///< Of the garments, 1 to 3.
};

/// Which clips of a seed: neither their plans nor their images are those of the other part.
enum class ClipPart : std::uint8_t { train, test };

/// Clips of garments of different kinds; numbers of garments, kinds, images of a kind, places and velocities
/// are each as likely as another. A pure function. @param labels [images], each below 16; at least 3 kinds.
std::vector<Clip> plan_clips(std::span<const std::uint8_t> labels, std::size_t count, std::uint64_t seed,
                             ClipPart part);

/// Where an edge is `frame` frames later: it goes to and fro between 0 and kClipRoom at a constant speed.
std::size_t edge_at(int start, int velocity, int frame);

/// bytes[kClipSide, kClipSide, kClipFrames] = the frames, those of a pixel side by side, as a convolution
/// takes channels. Where garments overlap the brighter pixel shows. @param images [images, kGarmentBytes]
void draw_clip(std::span<const std::uint8_t> images, const Clip& clip, std::span<std::uint8_t> bytes);

}  // namespace steelyard
