#include "src/data/clips.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "src/base/random.hpp"
#include "src/data/fashion_mnist.hpp"

namespace steelyard {
namespace {

constexpr std::size_t kTrain = 16384;
constexpr std::size_t kTest = 2048;
constexpr std::size_t kKinds = 10;
constexpr int kFastest = 3;                     ///< Pixels per frame, either way.
constexpr std::uint64_t kStream = 1ULL << 41U;  // Apart from those of tensors and of shuffling.

/// The random numbers of one clip, one after the other.
class Dice {
 public:
  Dice(std::uint64_t seed, ClipPart part, std::size_t clip)
      : seed_(seed), stream_(kStream + static_cast<std::uint64_t>(part)), next_(clip * kMost) {}
  std::size_t below(std::size_t end) { return random_bits(seed_, stream_, next_++) % end; }

 private:
  static constexpr std::uint64_t kMost = 32;  ///< Of a clip: one for the count, five for each garment.
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t next_;
};

/// The images of each kind that has any.
std::vector<std::vector<std::uint32_t>> images_by_kind(std::span<const std::uint8_t> labels) {
  std::vector<std::vector<std::uint32_t>> kinds(std::numeric_limits<std::uint8_t>::max() + 1U);
  for (std::size_t i = 0; i < labels.size(); ++i) kinds[labels[i]].push_back(static_cast<std::uint32_t>(i));
  std::erase_if(kinds, [](const auto& images) { return images.empty(); });
  return kinds;
}

MovingGarment any_way(std::uint32_t image, Dice& dice) {
  constexpr std::size_t kSpeeds = 2 * kFastest + 1;
  MovingGarment garment;
  garment.image = image;
  garment.x = static_cast<std::uint8_t>(dice.below(kClipRoom + 1));
  garment.y = static_cast<std::uint8_t>(dice.below(kClipRoom + 1));
  std::size_t velocity = dice.below(kSpeeds * kSpeeds - 1);
  if (velocity >= kSpeeds * kSpeeds / 2) ++velocity;  // The middle one stands still.
  garment.dx = static_cast<std::int8_t>(static_cast<int>(velocity % kSpeeds) - kFastest);
  garment.dy = static_cast<std::int8_t>(static_cast<int>(velocity / kSpeeds) - kFastest);
  return garment;
}

void draw_garment(const std::uint8_t* image, std::uint8_t* corner) {
  for (std::size_t y = 0; y < kGarmentSide; ++y, corner += kClipSide * kClipFrames)
    for (std::size_t x = 0; x < kGarmentSide; ++x, ++image)
      corner[x * kClipFrames] = std::max(corner[x * kClipFrames], *image);
}

/// One part of the data set: the garments' pixels, shared by its clips.
struct Reel {
  std::vector<std::uint8_t> images;
  std::vector<Clip> clips;
};

Samples film(Samples garments, std::size_t count, std::uint64_t seed, ClipPart part) {
  auto reel = std::make_shared<Reel>();
  reel->clips = plan_clips(garments.labels, count, seed, part);
  reel->images = std::move(garments.pixels);
  Samples samples{count, kClipBytes, {}, {}};
  for (const Clip& clip : reel->clips) {
    unsigned tags = 0;
    for (std::size_t i = 0; i < clip.count; ++i) tags |= 1U << garments.labels[clip.garments[i].image];
    samples.tags.push_back(static_cast<std::uint16_t>(tags));
  }
  samples.draw = [reel = std::shared_ptr<const Reel>(std::move(reel))](std::size_t sample,
                                                                       std::span<std::uint8_t> bytes) {
    draw_clip(reel->images, reel->clips[sample], bytes);
  };
  return samples;
}

/// Files are what their user says they are, and may hold anything.
Status check_garments(const Samples& garments, const std::string& what) {
  const std::string begin = "data set 'clips' cannot be made of the " + what + " images: ";
  if (garments.inputs != kGarmentBytes)
    return Error{begin + "they have " + std::to_string(garments.inputs) + " pixels; they must be 28x28"};
  unsigned kinds = 0;
  for (const std::uint8_t label : garments.labels) {
    if (label >= kKinds)
      return Error{begin + "one has the label " + std::to_string(label) + "; labels must be below " +
                   std::to_string(kKinds)};
    kinds |= 1U << label;
  }
  if (std::popcount(kinds) < 3)
    return Error{begin + "they are of " + std::to_string(std::popcount(kinds)) +
                 " kinds; a clip needs garments of up to 3 different ones"};
  return success();
}

}  // namespace

std::vector<Clip> plan_clips(std::span<const std::uint8_t> labels, std::size_t count, std::uint64_t seed,
                             ClipPart part) {
  auto kinds = images_by_kind(labels);
  std::vector<Clip> clips(count);
  std::vector<std::size_t> order(kinds.size());
  for (std::size_t i = 0; i < count; ++i) {
    Dice dice(seed, part, i);
    Clip& clip = clips[i];
    clip.count = static_cast<std::uint8_t>(1 + dice.below(clip.garments.size()));
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t j = 0; j < clip.count; ++j) {
      std::swap(order[j], order[j + dice.below(order.size() - j)]);
      const auto& images = kinds[order[j]];
      const std::uint32_t image = images[dice.below(images.size())];
      clip.garments[j] = any_way(image, dice);
    }
  }
  return clips;
}

std::size_t edge_at(int start, int velocity, int frame) {
  constexpr int kRoom = static_cast<int>(kClipRoom);
  constexpr int kPeriod = 2 * kRoom;
  const int way = ((start + velocity * frame) % kPeriod + kPeriod) % kPeriod;
  return static_cast<std::size_t>(way <= kRoom ? way : kPeriod - way);
}

void draw_clip(std::span<const std::uint8_t> images, const Clip& clip, std::span<std::uint8_t> bytes) {
  std::ranges::fill(bytes, std::uint8_t{0});
  for (std::size_t i = 0; i < clip.count; ++i) {
    const MovingGarment& garment = clip.garments[i];
    const auto image = images.subspan(garment.image * kGarmentBytes, kGarmentBytes);
    for (std::size_t frame = 0; frame < kClipFrames; ++frame) {
      const std::size_t y = edge_at(garment.y, garment.dy, static_cast<int>(frame));
      const std::size_t x = edge_at(garment.x, garment.dx, static_cast<int>(frame));
      draw_garment(image.data(), bytes.data() + (y * kClipSide + x) * kClipFrames + frame);
    }
  }
}

Expected<Dataset> load_clips(const DatasetRequest& request) {
  auto garments = load_fashion_mnist(request);
  if (!garments) return Error{"data set 'clips' is made of Fashion-MNIST: " + garments.error().message};
  Dataset dataset = std::move(garments).value();
  if (auto good = check_garments(dataset.train, "training"); !good) return good.error();
  if (auto good = check_garments(dataset.test, "test"); !good) return good.error();
  dataset.train = film(std::move(dataset.train), kTrain, request.seed, ClipPart::train);
  dataset.test = film(std::move(dataset.test), kTest, request.seed, ClipPart::test);
  dataset.source = std::to_string(kTrain) + " training and " + std::to_string(kTest) +
                   " test clips, made from --seed of " + dataset.source;
  return dataset;
}

}  // namespace steelyard
